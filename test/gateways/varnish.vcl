# Varnish in front of svc, started with `varnishd … -p backend_idle_timeout=5`, below the 10 seconds after which the fast
# transport closes an idle connection. The test replaces BACKEND_PORT.
vcl 4.1;

backend svc {
  .host = "127.0.0.1";
  .port = "BACKEND_PORT";
  # Longer than --request-timeout and than 15 s, the interval of the comments on a silent stream.
  .first_byte_timeout = 330s;
  .between_bytes_timeout = 330s;
}

sub vcl_recv {
  # Varnish keeps no answer. svc has a cache of its own (--cache).
  return (pass);
}
