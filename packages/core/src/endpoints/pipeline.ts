import type { ValidationLimits } from '../abuse/validation-limits.ts'
import { readBearer } from '../credentials/bearer.ts'
import { refuseSecondMethod } from '../credentials/presented.ts'
import type { CallerKind } from '../errors/error-response.ts'
import { isOAuthError, OAuthError, reasonOf } from '../errors/oauth-error.ts'
import { noteToken, type Trace } from '../events/recorder.ts'
import { type Parameters, parseFields, type RequestParameters } from '../http/parameters.ts'
import {
  hasBody,
  parseForm,
  parseJson,
  readForm,
  readJson,
  readQueryParameters,
  refuseBody,
} from '../http/read-parameters.ts'
import type { Callers, EndpointKit, TokenCaller } from '../plugin/endpoint.ts'
import { after } from '../promises.ts'
import type { Services } from '../services.ts'
import type { Schema } from '../standard-schema.ts'
import { withoutClientSub } from '../tokens/claims.ts'
import type { CoreEndpoint } from './core-endpoint.ts'
import { createToResponse, type EndpointResponse } from './reply.ts'
import { requestFacts } from './request-facts.ts'
import { createRespond } from './respond.ts'

/** Handles a request up to the response of the endpoint. Throws to refuse. */
export type HandleRequest = (request: Request, trace: Trace) => Promise<EndpointResponse>

/** The kind of caller, for the status and headers of errors. */
export const callerKinds: Readonly<Record<keyof Callers, CallerKind>> = {
  client: 'client',
  scope: 'client',
  token: 'bearer',
  anyone: 'validation',
}

const noForm: RequestParameters = Object.freeze(Object.create(null))

function presentedScope({ presented }: Trace): { presentedScope?: string; presentedFingerprint?: string } {
  if (presented === undefined) return {}
  const { known, fingerprint: presentedFingerprint } = presented
  return known === undefined ? { presentedFingerprint } : { presentedScope: known, presentedFingerprint }
}

const isInvalidToken = (thrown: unknown): boolean =>
  isOAuthError(thrown) && thrown.code === 'invalid_token' && thrown.details.withoutCredentials !== true

/** Wraps a handler with a limit on invalid tokens per client address. */
function limited(handle: HandleRequest, limits: ValidationLimits): HandleRequest {
  return async (request, trace) => {
    // Before the body is read, so that a refused request costs little.
    await limits.admit(trace)
    try {
      return await handle(request, trace)
    } catch (thrown) {
      if (isInvalidToken(thrown)) await limits.countFailure(trace)
      throw thrown
    }
  }
}

/** Without a schema, there are no parameters. `v.any()` is not run: it would take 3 % of a token request. */
function validatorOf(schema: Schema | undefined): (parameters: Parameters) => unknown {
  if (schema === undefined) return () => undefined
  return 'type' in schema && schema.type === 'any' && !('pipe' in schema)
    ? (parameters) => parameters
    : (parameters) => parseFields(schema, parameters)
}

/**
 * Creates the handler of an endpoint, once. For each kind of caller, it contains the steps in order: body, caller,
 * parameters, `handle`, response. Credentials are read from the header, or from the form of a POST or PUT; never from the
 * query, which appears in logs, or from JSON.
 */
export function createPipeline(
  endpoint: CoreEndpoint,
  kit: EndpointKit,
  { authenticateClient, authenticateScope, accessTokens, registry, scopes, validationLimits, ...services }: Services,
): HandleRequest {
  const { caller: callerKind, params: schema, scope: requiredScope = '', denial } = endpoint
  const { recorder, runtime, bodyLimit } = services
  const { origin } = new URL(kit.issuer)
  const isForm = endpoint.body !== 'json'
  const readBody = isForm ? readForm : readJson
  const parseBody: (bytes: Uint8Array) => Parameters = isForm ? parseForm : parseJson
  const toResponse = createToResponse({
    realm: kit.issuer,
    caller: callerKinds[callerKind],
    isPublic: callerKind === 'anyone',
    pluginErrors: registry.pluginErrors,
  })
  // A schema that accepts any parameter must not receive the credentials of the caller; a strict one would refuse them.
  const hidden = schema === undefined ? [] : registry.credentialParameters[callerKind]
  const validate = validatorOf(schema)
  const formats = registry.formats.filter(({ part }) => part.endpoint === endpoint.name)
  const respond = createRespond(toResponse, formats, services.endpointKitOf)
  const needsUser = scopes.find(requiredScope)?.identity === true

  /**
   * Reads the body of a POST or PUT. If the endpoint has no parameters, a request without a media type has its
   * credentials in the header, or has neither credentials nor a body.
   */
  function bodyOf(request: Request): Promise<Uint8Array | undefined> | undefined {
    if (!hasBody(request)) return undefined
    if (schema !== undefined || request.headers.has('content-type')) return readBody(request, bodyLimit)
    return request.headers.has('authorization') ? undefined : refuseBody(request, bodyLimit)
  }

  const formOf = (bytes: Uint8Array | undefined): RequestParameters | undefined =>
    isForm && bytes !== undefined ? parseForm(bytes) : undefined

  /** Returns the parameters that are not in a form. */
  function otherParameters(request: Request, bytes: Uint8Array | undefined): Parameters {
    if (schema === undefined) return noForm
    return bytes === undefined ? readQueryParameters(request, bodyLimit) : parseBody(bytes)
  }

  function call(caller: Callers[keyof Callers], parameters: Parameters, request: Request, trace: Trace) {
    for (const name of hidden) delete (parameters as Record<string, unknown>)[name]
    return after(validate(parameters), (params) =>
      endpoint.handle({ caller, params, request: requestFacts(request, trace, origin, runtime) }, kit, trace),
    )
  }

  const handlers: Readonly<Record<keyof Callers, HandleRequest>> = {
    async client(request, trace) {
      const body = bodyOf(request)
      const bytes = body && (await body)
      const form = formOf(bytes)
      const client = await authenticateClient(request, form ?? noForm, trace)
      return respond(client, request, await call(client, form ?? otherParameters(request, bytes), request, trace))
    },

    async scope(request, trace) {
      const { scope, parameters } = await authenticateBeforeParsing(request, trace)
      return respond(scope, request, await call(scope, parameters, request, trace))
    },

    async token(request, trace) {
      const body = bodyOf(request)
      const bytes = body && (await body)
      const form = formOf(bytes)
      const validation = await accessTokens.validate(readBearer(request.headers.get('authorization'), form))
      noteToken(trace, validation)
      const { fingerprint, sub } = validation
      if (!validation.valid) {
        const { reason } = validation
        recorder.record(trace, { type: 'validation_failed', tokenType: 'access_token', reason, fingerprint })
        throw new OAuthError('invalid_token', 'The access token is not valid', { reason })
      }
      if (!validation.scopes.includes(requiredScope) || (needsUser && sub === undefined)) {
        throw new OAuthError('insufficient_scope', `The access token must have the scope ${requiredScope}`, {
          reason: `${requiredScope}_missing`,
          scope: requiredScope,
        })
      }
      recorder.record(trace, { type: 'validation_succeeded', tokenType: 'access_token', fingerprint })
      const { client, scopes: granted, claims } = validation
      const caller: TokenCaller = { client, sub, scopes: granted, claims: withoutClientSub(claims) }
      return respond(caller, request, await call(caller, form ?? otherParameters(request, bytes), request, trace))
    },

    async anyone(request, trace) {
      const bytes = schema !== undefined && hasBody(request) ? await readBody(request, bodyLimit) : undefined
      return respond(undefined, request, await call(undefined, otherParameters(request, bytes), request, trace))
    },
  }

  /**
   * Authenticates a scope before it parses the body, so that an unauthenticated caller does not learn whether the body is
   * valid.
   */
  async function authenticateBeforeParsing(request: Request, trace: Trace) {
    try {
      const body = bodyOf(request)
      const bytes = body && (await body)
      if (request.headers.get('authorization') === null) {
        const form = formOf(bytes)
        const { scope } = await authenticateScope(request, form ?? noForm, trace)
        return { scope, parameters: form ?? otherParameters(request, bytes) }
      }
      const { scope, presentation } = await authenticateScope(request, noForm, trace)
      const form = formOf(bytes)
      if (form !== undefined) refuseSecondMethod(presentation, form)
      return { scope, parameters: form ?? otherParameters(request, bytes) }
    } catch (error) {
      const reason = reasonOf(error)
      recorder.record(trace, { type: denial ?? 'scope_authentication_failed', ...presentedScope(trace), reason })
      throw error
    }
  }

  const handle = handlers[callerKind]
  const isLimited = callerKind === 'token' || endpoint.guessable === true
  return isLimited && validationLimits !== undefined ? limited(handle, validationLimits) : handle
}
