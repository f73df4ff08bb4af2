export {
  createToken,
  EmbeddedActionsParser,
  isRecognitionException,
  Lexer,
  tokenLabel,
  tokenMatcher,
} from 'chevrotain';
