import { Redactor } from '../../../logging/redactor.ts';
import { requestSecrets, type RequestSecrets } from '../../../logging/request-secrets.ts';
import type { MetaPart, AnswerPart } from '../../../runtime/call/call-options.ts';
import type { CallReport } from '../../../runtime/call/runtime.ts';
import type { ParsedReply } from '../../../runtime/reply/reply-parser.ts';
import type { Problem } from '../problem.ts';
import type { JsonBody } from '../read-json.ts';
import type { RequestContext } from '../request-context.ts';
import { metaOf, metaParts, traceOf, warningMembers, type AnswerTexts } from './answer-parts.ts';

/** Removes the credentials of the server, and those that a request brought in its body, from what svc answers. */
export class RequestMask {
  readonly #context: RequestContext;
  readonly #body: JsonBody | undefined;
  #secrets: RequestSecrets | undefined;

  constructor(context: RequestContext, body: JsonBody | undefined) {
    this.#context = context;
    this.#body = body;
  }

  /** The credentials in the body, once an answer or a span needs them. */
  get secrets(): RequestSecrets | undefined {
    return this.#secrets;
  }

  /** Returns a function that masks what the request brought, in the texts of its trace. */
  text(): (text: string) => string {
    const { values, tooMany } = this.#own;
    if (tooMany !== undefined) return () => `[not recorded: the request contains ${tooMany} credentials]`;
    const redactor = new Redactor(values);
    return (text) => redactor.redactValues(text);
  }

  /** The parts of the answer that the request asks for. */
  textsOf(include: ReadonlySet<AnswerPart>, reply: ParsedReply, report: CallReport): AnswerTexts {
    const parts = metaParts(include);
    return {
      meta: parts.length === 0 ? '' : this.#meta(parts, report),
      warnings: include.has('warnings') ? warningMembers(reply) : '',
      trace: include.has('trace') ? this.#traceMember(report) : '',
    };
  }

  /** Facts as JSON text. Undefined if the request has so many credentials that svc cannot mask them. */
  facts(facts: object): string | undefined {
    const { tooMany, values } = this.#own;
    if (tooMany !== undefined) return undefined;
    const json = this.#context.services.redactor.redactValues(JSON.stringify(facts));
    return values.length === 0 ? json : new Redactor(values).redactValues(json);
  }

  /** Masks what the request itself brought as a secret. The redactor of the server masks the rest. */
  problem(of: Problem): Problem {
    this.#secrets = requestSecrets(this.#body?.value, this.#body?.text, of.status === 400);
    const { values } = this.#secrets;
    if (values.length === 0) return of;
    const clean = new Redactor(values).redactValues(JSON.stringify({ message: of.message, fields: of.fields }));
    return { ...of, ...(JSON.parse(clean) as Pick<Problem, 'message' | 'fields'>) };
  }

  get #own(): RequestSecrets {
    this.#secrets ??= requestSecrets(this.#body?.value, this.#body?.text, false);
    return this.#secrets;
  }

  #traceMember(report: CallReport): string {
    const trace = this.facts(traceOf(report, this.#context.elapsedMs));
    return trace === undefined ? '' : `,"trace":${trace}`;
  }

  #meta(parts: readonly MetaPart[], report: CallReport): string {
    const meta = metaOf(parts, report, this.#context.elapsedMs);
    const masked = this.facts(meta);
    if (masked !== undefined) return masked;
    return JSON.stringify({ ...meta, attempts: undefined, raw: undefined, reasoning: undefined, prompt: undefined });
  }
}
