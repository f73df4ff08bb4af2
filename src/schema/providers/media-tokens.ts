import type { MediaKind } from '../type.ts';
import type { Provider } from './providers.ts';

/** How a provider counts media, for estimates before a call. */
export interface MediaTokens {
  readonly image: PictureTokens;
  /**
   * The bytes of one token of other media: compressed audio with 16 kB for a second, a page of a PDF with 50 kB, video with 250 kB
   * for a second.
   */
  readonly bytesOfToken: Readonly<Record<Exclude<MediaKind, 'image'>, number>>;
}

/** A picture is scaled, and squares that cover it are counted. Lengths are in pixels. */
export interface PictureTokens {
  /** The longest and the shortest side after scaling; smaller pictures are not enlarged. */
  readonly longest?: number;
  readonly shortest?: number;
  /** The side of a square. */
  readonly square: number;
  /** The side is the shortest side of the picture divided by this number, at least 256 and at most `square`. */
  readonly crop?: number;
  /** The tokens of a square. */
  readonly tokens: number;
  /** The tokens of the picture as a whole. */
  readonly base?: number;
  /** The most squares that count. */
  readonly most?: number;
  /** A picture whose sides are not longer than this is one square. */
  readonly whole?: number;
}

/** https://platform.openai.com/docs/guides/images-vision: GPT-4o, with detail `high`, which `auto` chooses for all but small pictures. */
const OPENAI: MediaTokens = {
  image: { longest: 2_048, shortest: 768, square: 512, tokens: 170, base: 85 },
  bytesOfToken: { audio: 1_600, pdf: 30, video: 850 },
};

/** https://docs.anthropic.com/en/docs/build-with-claude/vision, and pdf-support: a page takes 1,500 to 3,000 tokens. */
const ANTHROPIC: MediaTokens = {
  image: { longest: 1_568, square: 28, tokens: 1, most: 1_600 },
  bytesOfToken: { audio: 500, pdf: 25, video: 850 },
};

/** https://ai.google.dev/gemini-api/docs/tokens: 32 tokens for a second of audio, 295 for one of video, 258 for a page. */
const GEMINI: MediaTokens = {
  image: { square: 768, crop: 1.5, tokens: 258, whole: 384 },
  bytesOfToken: { audio: 500, pdf: 190, video: 850 },
};

/** Bedrock serves mostly models of Anthropic; a server with OpenAI's interface can have any model. */
export const MEDIA_TOKENS: Readonly<Record<Provider, MediaTokens>> = {
  openai: OPENAI,
  'openai-generic': OPENAI,
  'openai-responses': OPENAI,
  'azure-openai': OPENAI,
  ollama: OPENAI,
  openrouter: OPENAI,
  anthropic: ANTHROPIC,
  'aws-bedrock': ANTHROPIC,
  'google-ai': GEMINI,
  'vertex-ai': GEMINI,
  offline: OPENAI,
  fallback: OPENAI,
  'round-robin': OPENAI,
};
