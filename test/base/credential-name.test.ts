import { expect, test } from 'vitest';
import { isCredentialName } from '../../src/base/credentials.ts';

const CREDENTIALS =
  'api_key apiKey API-KEY x-api-key APIKEY apikey openai_api_key OPENAI_API_KEY openaiKey key_secret token TOKEN accessToken access_token ' +
  'x-amz-security-token AWS_SESSION_TOKEN sessionToken refresh_token id_token csrf-token secret client_secret clientSecret ' +
  'AWS_SECRET_ACCESS_KEY secretAccessKey awssecretaccesskey access_key_id accessKeyId AccessKeyID password Password passwd db_password ' +
  'userPassword newpassword PASSPHRASE pwd authorization Authorization proxy-authorization auth basic_auth cookie Cookie ' +
  'set-cookie Set-Cookie cookies signature X-Amz-Signature sig sas sas_token SASToken credentials credential ' +
  'credentials_content x-amz-credential private_key privateKey privatekey PRIVATE-KEY signing_key subscription-key ' +
  'Ocp-Apim-Subscription-Key connection_string ConnectionString account_key AccountKey vault_secret_id aPI_kEY bearer jwt ' +
  'password1 api_key_2 secrets api_keys db_pass x-functions-key svc_options.env.API_KEY';

const OTHERS =
  'max_tokens maxTokens input_tokens tokens token_count tokenCount token_limit token_type tokenizer author authors ' +
  'authority authenticated keyboard keywords monkey turkey key keys primary_key foreignKey sort_key cache_key idempotency-key ' +
  'public_key secretary secret_name secret_type cookie_policy design sign signed assign assignment passage passenger pass bypass compass ' +
  'next_page_token pageToken eos_token stop_token password_length password_required passwordLastChangedAt key_id id name text ' +
  'stock stockings accession credit credits session sassy signal finish_reason missing_credential_count api_key_name max_output_tokens ' +
  'completion_tokens_details authorization_url private secretarial tokenization';

test.each(CREDENTIALS.split(' '))('%s names a credential', (name) => {
  expect(isCredentialName(name)).toBe(true);
});

test.each(OTHERS.split(' '))('%s names something else', (name) => {
  expect(isCredentialName(name)).toBe(false);
});

test('only the end of a long name decides, in time that does not depend on its length', () => {
  expect(isCredentialName(`${'a_'.repeat(1_000_000)}api_key`)).toBe(true);
  expect(isCredentialName(`api_key${'_a'.repeat(1_000_000)}`)).toBe(false);
});
