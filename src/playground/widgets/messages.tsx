import type { VNode } from 'preact';
import type { Message, MessagePart } from '../../schema/message.ts';
import { estimateMessageTokens } from '../data/run.ts';
import { CopyButton } from './controls.tsx';
import type { MediaKind } from '../../schema/type.ts';

/** The texts of a message that count as tokens. */
export function textsOf({ parts }: Message): readonly string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}

export function Messages({ messages }: { readonly messages: readonly Message[] }): VNode {
  return (
    <ol class="messages">
      {messages.map((message, at) => (
        <li key={at} class={`message role-${message.role}`}>
          <div class="message-head">
            <span class="role">{message.role}</span>
            <span class="quiet">≈ {estimateMessageTokens(textsOf(message))} tokens</span>
            <span class="grow" />
            <CopyButton label={`Copy the ${message.role} message`} text={() => textsOf(message).join('\n')} />
          </div>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function Part({ part }: { readonly part: MessagePart }): VNode {
  const metadata = part.metadata === undefined ? null : <code class="metadata">{JSON.stringify(part.metadata)}</code>;
  return (
    <>
      {part.kind === 'text' ? <pre class="message-text">{part.text}</pre> : <Media part={part} />}
      {metadata}
    </>
  );
}

/** The address of a picture is shown and not loaded: the page sends no request to another server. */
function Media({ part }: { readonly part: Extract<MessagePart, { readonly kind: 'media' }> }): VNode {
  const { media, source } = part;
  if (source.kind === 'base64' && source.data === '') {
    return (
      <div class="media-url">
        <span class="chip">{media}</span> <span class="quiet">The content of the file is not kept.</span>
      </div>
    );
  }
  if (source.kind === 'base64') return <MediaPreview media={media} data={source.data} mediaType={source.mediaType} />;
  return (
    <div class="media-url">
      <span class="chip">{media}</span> <code>{source.url}</code>
    </div>
  );
}

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
