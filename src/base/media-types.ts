/** The types of media files by their extensions. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  pdf: 'application/pdf',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

/** Returns the media type of a path or URL by its extension; undefined if it is unknown. */
export function mediaTypeOfName(name: string): string | undefined {
  const extension = /\.([a-z0-9]+)(?:[?#]|$)/iu.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined;
}

/** The first bytes of media files (Latin-1) with the position where they begin. */
const SIGNATURES: ReadonlyArray<readonly [at: number, bytes: string, type: string]> = [
  [0, '\x89PNG\r\n', 'image/png'],
  [0, '\xFF\xD8\xFF', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [8, 'WAVE', 'audio/wav'],
  [0, 'ID3', 'audio/mpeg'],
  [0, '\xFF\xFB', 'audio/mpeg'],
  [0, '%PDF-', 'application/pdf'],
  [4, 'ftyp', 'video/mp4'],
  [0, '\x1A\x45\xDF\xA3', 'video/webm'],
];

/** Returns the media type of content by its first bytes; undefined if it is unknown. */
export function mediaTypeOfContent(content: Uint8Array): string | undefined {
  const head = String.fromCharCode(...content.subarray(0, 16));
  return SIGNATURES.find(([at, bytes]) => head.startsWith(bytes, at))?.[2];
}
