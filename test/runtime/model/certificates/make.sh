#!/bin/sh
# Creates the certificates of test servers on loopback, which share one key. The key of the authority is not kept.
# Needs OpenSSL 3.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

openssl ecparam -name prime256v1 -genkey -noout -out "$work/authority-key.pem"
openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out localhost-key.pem
touch "$work/index"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = authority
[authority]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = req
[authority_extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
CONF

# sign NAME COMMON_NAME START END SUBJECT_ALT_NAME KEY_OF_THE_ISSUER
sign() {
  openssl req -new -config "$work/ca.conf" -key localhost-key.pem -subj "/CN=$2" -out "$work/request.pem"
  printf 'subjectAltName = %s\nbasicConstraints = CA:FALSE\nextendedKeyUsage = serverAuth\n' "$5" > "$work/extensions"
  issuer="-cert authority.pem -keyfile $work/authority-key.pem"
  [ "$6" = own ] && issuer="-selfsign -keyfile localhost-key.pem"
  # shellcheck disable=SC2086
  openssl ca -batch -notext -config "$work/ca.conf" $issuer -extfile "$work/extensions" \
    -startdate "$3" -enddate "$4" -in "$work/request.pem" -out "$1.pem"
}

openssl req -new -config "$work/ca.conf" -key "$work/authority-key.pem" -subj '/CN=svc test authority' -out "$work/authority.csr"
openssl ca -batch -notext -config "$work/ca.conf" -selfsign -keyfile "$work/authority-key.pem" \
  -extensions authority_extensions -startdate 20200101000000Z -enddate 21200101000000Z \
  -in "$work/authority.csr" -out authority.pem

local='DNS:localhost, DNS:model.example, IP:127.0.0.1'
sign localhost localhost 20200101000000Z 21200101000000Z "$local" authority
sign expired localhost 20200101000000Z 20200201000000Z "$local" authority
sign elsewhere elsewhere.example 20200101000000Z 21200101000000Z 'DNS:elsewhere.example' authority
sign self-signed localhost 20200101000000Z 21200101000000Z "$local" own
