import { percentDecoded } from '../../../base/percent-encoding.ts';
import { didYouMean, nearestNames } from '../../../base/suggestion.ts';
import { shortName } from '../../http/handlers/answer-parts.ts';
import { problemOf } from '../../http/problem.ts';
import type { JsonBody } from '../../http/read-json.ts';
import { contextOf, type Arrival, type RequestContext } from '../../http/request-context.ts';
import type { HeaderList } from '../../http/response-head.ts';
import type { HttpResponse } from '../../http/transport.ts';
import { visibleNames } from '../../http/visible-program.ts';
import { callFunction, DoorRequest, type Door } from '../door.ts';
import { OpenAiResponse, TranslatedAnswer } from './answer.ts';
import { CHAT } from './chat.ts';
import type { ModelEndpoint } from './endpoint.ts';
import {
  type ModelArguments,
  checkedArguments,
  FunctionModel,
  type ModelProgram,
  RequestRefusal,
} from './function-model.ts';
import { checkFields } from './request-fields.ts';
import { RESPONSES } from './responses.ts';

type Members = Readonly<Record<string, unknown>>;

const MODELS = '/v1/models';

/** The interface of OpenAI: each function is a model. */
export class OpenAiDoor implements Door {
  readonly prefix = '/v1';
  readonly paths: readonly string[] = [MODELS, CHAT.path, RESPONSES.path];
  readonly #models: ReadonlyMap<string, FunctionModel>;
  /** The time of the start, in seconds: no one knows when a function was written. */
  readonly #created = seconds();

  constructor(program: ModelProgram) {
    this.#models = new Map(program.functions.map((each) => [each.name, new FunctionModel(each, program)]));
  }

  serve(arrival: Arrival): void {
    const { path } = arrival;
    const context = contextOf(arrival, new OpenAiResponse(arrival.response));
    const { method } = context.request;
    const endpoint = path === CHAT.path ? CHAT : RESPONSES;
    if (path === endpoint.path) {
      if (method === 'POST')
        new ModelRequest(context, { endpoint, models: this.#models, outer: arrival.response }).begin();
      else context.methodNotAllowed('POST');
    } else if (path !== MODELS && !path.startsWith(`${MODELS}/`)) context.notFound(this.paths);
    else if (method !== 'GET' && method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
    else if (context.authorized()) this.#sendModels(context, path.slice(MODELS.length + 1));
  }

  #sendModels(context: RequestContext, segment: string): void {
    const names = visibleNames(context.caller, context.services.runtime.functionNames);
    const name = percentDecoded(segment) ?? segment;
    context.trace?.routed(`${context.services.config.basePath}${MODELS}`);
    if (segment === '') context.json(200, { object: 'list', data: names.map((each) => this.#model(each)) });
    else if (names.includes(name)) context.json(200, this.#model(name));
    else {
      const message = `There is no function "${name}". ${didYouMean(name, names)}`.trimEnd();
      context.problem(problemOf({ code: 'function_not_found', message, suggestions: nearestNames(name, names) }));
    }
  }

  #model(id: string): object {
    return { id, object: 'model', created: this.#created, owned_by: 'svc' };
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1_000);
}

interface ModelCall {
  readonly endpoint: ModelEndpoint;
  readonly models: ReadonlyMap<string, FunctionModel>;
  /** The response without a translation. */
  readonly outer: HttpResponse;
}

/** A request that calls a function as a model. */
class ModelRequest extends DoorRequest {
  readonly #call: ModelCall;

  constructor(context: RequestContext, call: ModelCall) {
    super(context);
    this.#call = call;
  }

  protected take({ value }: JsonBody): void {
    try {
      this.#begin(value);
    } catch (error) {
      if (!(error instanceof RequestRefusal)) throw error;
      this.answerProblem(error.problem);
    }
  }

  protected override get functionName(): string {
    const model = this.body?.value['model'];
    return typeof model === 'string' ? shortName(model) : '';
  }

  #begin(body: Members): void {
    const { endpoint, models, outer } = this.#call;
    const name = body['model'];
    if (typeof name !== 'string') throw new RequestRefusal('model', '"model" has to be the name of a function.');
    const model = models.get(name);
    const { context } = this;
    // The function request answers 403 or 404, before it reads the arguments.
    if (model === undefined || context.caller?.mayCall(name) === false) {
      const functionName = shortName(name);
      callFunction(context, { route: 'call', functionName, body: '{}', response: context.response });
      return;
    }
    const ignored = checkFields(body, endpoint.fields, model);
    const { args, unread } = argumentsOf(body, model, endpoint);
    const facts = { id: context.requestId, created: seconds(), model: name };
    const names = [...ignored, ...unread];
    const more: HeaderList = names.length === 0 ? [] : [['x-svc-ignored', listOf(names)]];
    const options = body['svc_options'] ?? undefined;
    callFunction(context, {
      route: body['stream'] === true ? 'stream' : 'call',
      functionName: name,
      body: JSON.stringify(options === undefined ? args : { ...args, svc_options: options }),
      response: new TranslatedAnswer(outer, endpoint.format(facts, body), { flows: model.flows, more }),
    });
  }
}

/** Gateways accept 4 to 8 KB of headers. The names of fields come from the caller. */
const MOST_NAMES = 30;
const LONGEST_FIELD = 60;

function listOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? [`and ${names.length - MOST_NAMES} more`] : [];
  return [...names.slice(0, MOST_NAMES).map((name) => shortName(name, LONGEST_FIELD)), ...more].join(', ');
}

interface TakenArguments {
  readonly args: ModelArguments;
  /** The fields of which a part is not used. */
  readonly unread: readonly string[];
}

function argumentsOf(body: Members, model: FunctionModel, endpoint: ModelEndpoint): TakenArguments {
  const given = body['svc_args'] ?? undefined;
  if (given !== undefined) return { args: checkedArguments(given, 'svc_args'), unread: [] };
  const { turns, param } = endpoint.conversation(body);
  const isPartlyRead = model.takesLastMessage && turns.length > 1;
  return { args: model.argumentsOf(turns, param), unread: isPartlyRead ? [param] : [] };
}
