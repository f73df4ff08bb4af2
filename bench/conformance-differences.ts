/** Recorded values that svc does not give, by case, and why. */
export const ACCEPTED_DIFFERENCES: Readonly<Record<string, string>> = {
  'test_class_2::test_streaming_not_null_list_partial':
    'a partial wraps what @stream.with_state marks, as {"value", "state"}; the recorded value leaves the wrapper out',
  'test_streaming::test_done_field_1':
    'a quote at the very end of the text may still turn out to stand inside the string, so it is not done yet',
  'test_streaming::test_person_with_check':
    'a check is reported once its value is complete: a partial that says "failed" of a number still being written is wrong',
};

/** Recorded streams whose last partial differs, and why. */
export const ACCEPTED_STREAM_DIFFERENCES: Readonly<Record<string, string>> = {
  'test_class_2::test_streaming_not_null_list_partial':
    'the reply stops early, and the last recorded partial lacks the end of a text that had arrived',
  'test_streaming::test_done_field_1':
    'a quote at the very end of the text may still turn out to stand inside the string, so it is not done yet',
};
