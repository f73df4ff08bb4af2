import type { VNode } from 'preact';
import type { MediaKind } from '../../schema/type.ts';

interface MediaPreviewProps {
  readonly media: MediaKind;
  /** Base64. */
  readonly data: string;
  readonly mediaType?: string | undefined;
}

/** Types that the browser shows without a plugin, and that cannot contain scripts. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/[\w.+-]+|video\/[\w.+-]+)$/u;

/** A picture, or a player, for media whose content is in the arguments. */
export function MediaPreview({ media, data, mediaType }: MediaPreviewProps): VNode {
  const facts = `${mediaType ?? media}, ${Math.ceil((data.length * 3) / 4 / 1024)} KB`;
  const url = `data:${mediaType ?? ''};base64,${data}`;
  return (
    <figure class="media">
      {mediaType !== undefined && SHOWN.test(mediaType) ? shown(media, url) : null}
      <figcaption>{facts}</figcaption>
    </figure>
  );
}

function shown(media: MediaKind, url: string): VNode | null {
  if (media === 'image') return <img src={url} alt="" />;
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- there are no captions for the file of a user
  if (media === 'audio') return <audio src={url} controls />;
  return media === 'video' ? <video src={url} controls /> : null;
}
