import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { MediaKind, Type } from '../../schema/type.ts';
import { MediaPreview } from '../widgets/media-preview.tsx';
import { Segmented } from '../widgets/segmented.tsx';
import { inputId, useForm, type FieldProps } from './form-context.ts';

/** The files that the browser offers for each kind. */
const ACCEPTED: Readonly<Record<MediaKind, string>> = {
  image: 'image/*',
  audio: 'audio/*',
  pdf: 'application/pdf,.pdf',
  video: 'video/*',
};

/** A body of 10 MiB has room for a file of this size as base64. */
const LARGEST_FILE = 7 * 2 ** 20;

/** Media by URL, or as the content of a file. */
export function MediaInput({
  type,
  value,
  onChange,
  path,
}: FieldProps<Extract<Type, { readonly kind: 'media' }>>): VNode {
  const { errors } = useForm();
  const source = isJsonObject(value) ? value : {};
  const data = textOr(source['base64']);
  const isFile = data !== undefined;
  const [byFile, setByFile] = useState(isFile);
  const [fault, setFault] = useState('');
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const large = file.size > LARGEST_FILE;
    setFault(large ? `The file has ${size(file.size)}; svc accepts at most ${size(LARGEST_FILE)} by default.` : '');
    if (!large) onChange(await content(file));
  };
  return (
    <div class="stack-tight media-input">
      <Segmented
        label={`Source of ${path}`}
        options={[
          ['url', 'URL'],
          ['file', 'File'],
        ]}
        value={byFile || isFile ? 'file' : 'url'}
        onChange={(next) => {
          setByFile(next === 'file');
          if (next === 'url') onChange({ url: '' });
        }}
      />
      {byFile || isFile ? (
        <input
          id={inputId(path)}
          class="input file-input"
          type="file"
          accept={ACCEPTED[type.media]}
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      ) : (
        <input
          id={inputId(path)}
          class="input"
          type="url"
          placeholder={`https://example.com/${type.media}`}
          aria-invalid={errors.has(path)}
          value={typeof source['url'] === 'string' ? source['url'] : ''}
          onInput={(event) => onChange({ url: event.currentTarget.value })}
        />
      )}
      {fault === '' ? null : <p class="error">{fault}</p>}
      {data === undefined ? null : (
        <MediaPreview media={type.media} data={data} mediaType={textOr(source['media_type'])} />
      )}
    </div>
  );
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A data URL is the type of the file, then its content as base64. */
function content(file: File): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const [, base64 = ''] = (typeof reader.result === 'string' ? reader.result : '').split(',', 2);
      resolve(file.type === '' ? { base64 } : { base64, media_type: file.type });
    });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')));
    reader.readAsDataURL(file);
  });
}

/** `7 MB`, `12 KB`. */
function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
