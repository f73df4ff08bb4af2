const INSIDE_A_STRING =
  'at a line break inside a string, a partial waits for the text after it, which can show that the closing quote is missing; the call returns the recorded value';

/** Recorded values that svc does not return, by case, with the reason. */
export const ACCEPTED_DIFFERENCES: Readonly<Record<string, string>> = {
  'test_class::test_string_in_object_with_unescaped_quotes_2': INSIDE_A_STRING,
  'test_class_2::test_streaming_not_null_list_partial':
    'a partial wraps a field with @stream.with_state as {"value", "state"}; the recorded value has no wrapper',
  'test_code::unescaped_single_quotes_in_triple_quotes':
    'triple quotes inside triple quotes belong to the text, as public reports expect; the recorded value breaks off',
  'test_streaming::test_done_field_1':
    'a quote at the very end of the text may still turn out to stand inside the string, so it is not done yet',
  'test_unions::test_email_regex':
    'of two classes that suit equally well, the one whose @check holds wins; the recorded value calls an e-mail address a phone number',
  'test_streaming::test_person_with_check':
    'svc reports a check when its value is complete: "failed" would be wrong for a number that is still being written',
};

/** Recorded streams whose last partial differs, with the reason. */
export const ACCEPTED_STREAM_DIFFERENCES: Readonly<Record<string, string>> = {
  'test_class::test_string_in_object_with_unescaped_quotes_2': INSIDE_A_STRING,
  'test_class_2::test_streaming_not_null_list_partial':
    'the reply stops early, and the last recorded partial lacks the end of a text that had arrived',
  'test_code::unescaped_single_quotes_in_triple_quotes':
    'triple quotes inside triple quotes belong to the text, as public reports expect; the recorded value breaks off',
  'test_streaming::test_done_field_1':
    'a quote at the very end of the text may still turn out to stand inside the string, so it is not done yet',
};
