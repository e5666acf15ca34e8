import { refuseSecondMethod } from '../credentials/presented.ts'
import { readAccessToken, readBearer } from '../credentials/presented-token.ts'
import { withClaims } from '../directory/user-service.ts'
import { OAuthError, reasonOf } from '../errors/oauth-error.ts'
import { noteToken, type Trace } from '../events/recorder.ts'
import { type Parameters, parseFields } from '../http/parameters.ts'
import { createJsonResponse } from '../http/plain-response.ts'
import type { Callers, EndpointKit, EndpointRequest, TokenCaller } from '../parts/endpoint.ts'
import type { EndpointResponse } from '../parts/reply.ts'
import { nothingProved, type Proved } from '../parts/token-binding.ts'
import { after } from '../promises.ts'
import type { Services } from '../services.ts'
import type { Schema } from '../standard-schema.ts'
import { withoutClientSub } from '../tokens/claims.ts'
import type { MaybePromise } from '../types.ts'
import { type CoreCall, type CoreEndpoint, errorRecipientOf } from './core-endpoint.ts'
import { limited } from './limited.ts'
import { createReadRequest, noForm, requestFacts } from './read-request.ts'

/** Handles a request up to the response of the endpoint. Throws to refuse. */
export type HandleRequest = (request: Request, trace: Trace) => Promise<EndpointResponse>

const withProofHeaders = (responding: MaybePromise<EndpointResponse>, { headers }: Proved) =>
  headers === undefined
    ? responding
    : after(responding, (response) => ({ ...response, headers: { ...response.headers, ...headers } }))

function presentedScope({ presented }: Trace): { presentedScope?: string; presentedFingerprint?: string } {
  if (presented === undefined) return {}
  const { known, fingerprint: presentedFingerprint } = presented
  return known === undefined ? { presentedFingerprint } : { presentedScope: known, presentedFingerprint }
}

/** Returns an empty response to HEAD: the response to GET cannot be known without the effect of the request. */
const exceptHead =
  (handle: HandleRequest, empty: EndpointResponse): HandleRequest =>
  (request, trace) =>
    request.method === 'HEAD' ? Promise.resolve(empty) : handle(request, trace)

/** Without a schema, there are no parameters. `v.any()` is not run: it would take 3 % of a token request. */
function validatorOf(schema: Schema | undefined): (parameters: Parameters) => unknown {
  if (schema === undefined) return () => undefined
  return 'type' in schema && schema.type === 'any' && !('pipe' in schema)
    ? (parameters) => parameters
    : (parameters) => parseFields(schema, parameters)
}

/** Creates the steps that do not depend on the kind of caller. */
function createSteps(endpoint: CoreEndpoint, kit: EndpointKit, services: Services) {
  const { caller: callerKind, params: schema } = endpoint
  const { registry, runtime, errors } = services
  const { origin } = new URL(kit.issuer)
  const alias = registry.announced.aliasOf(endpoint.metadataName)
  const segmentsOf = endpoint.createSegmentsOf?.(kit.endpointUrl(endpoint.name)?.slice(origin.length))
  const urls = { origin, alias, segmentsOf }
  const { createToResponse: ofPlugin = createJsonResponse } = endpoint
  const toResponse = ofPlugin({
    errors,
    recipient: errorRecipientOf(endpoint),
    isPublic: callerKind === 'anyone',
  })
  // A schema that accepts any parameter must not receive the credentials of the caller; a strict one would refuse them.
  const hidden = schema === undefined ? [] : registry.credentialParameters[callerKind]
  const validate = validatorOf(schema)

  /** Returns a function that determines the facts once, when they are first read. */
  function factsOf(request: Request, trace: Trace): () => EndpointRequest {
    let known: EndpointRequest | undefined
    return () => {
      known ??= requestFacts(request, trace, urls, runtime)
      return known
    }
  }

  function call(
    caller: Callers[keyof Callers],
    parameters: Parameters,
    facts: () => EndpointRequest,
    trace: Trace,
    {
      confirmation,
      usable,
      bearer,
      confirm,
    }: Pick<Proved, 'confirmation' | 'usable'> & Partial<Pick<CoreCall, 'bearer' | 'confirm'>> = {},
  ) {
    for (const name of hidden) delete (parameters as Record<string, unknown>)[name]
    return after(validate(parameters), (params) =>
      endpoint.handle({ caller, params, facts, confirmation, usable, bearer, confirm }, kit, trace),
    )
  }

  return {
    ...createReadRequest(endpoint, services.bodyLimit),
    endpoint,
    endpointUrls: [kit.endpointUrl(endpoint.name), urls.alias].filter((url) => url !== undefined),
    factsOf,
    call,
    respond: registry.formats.respondOf(endpoint.name, toResponse, services.endpointKitOf),
  }
}

type Steps = ReturnType<typeof createSteps>

/** Creates the handler of an endpoint for one kind of caller. */
type CreateHandler = (steps: Steps, services: Services) => HandleRequest

const forClient: CreateHandler = (steps, { authenticateClient, keyProofs, registry }) => {
  const { bodyOf, formOf, otherParameters, factsOf, call, respond, endpoint, endpointUrls } = steps
  const readsProofs = (endpoint.readsProofs ?? false) !== false && registry.bindings.areInstalled
  const admit = readsProofs ? keyProofs.admit : undefined
  const { issuesTokens = false } = endpoint
  const usesFirst = !issuesTokens && endpoint.readsProofs !== 'before_reply'
  return async (request, trace) => {
    const body = bodyOf(request)
    const bytes = body && (await body)
    const form = formOf(bytes)
    const facts = factsOf(request, trace)
    if (admit !== undefined) await admit(facts())
    const client = await authenticateClient(request, form ?? noForm, trace, endpointUrls)
    const proved = readsProofs ? await keyProofs.prove(facts(), client, issuesTokens) : nothingProved
    const parameters = form ?? otherParameters(request, bytes)
    if (usesFirst) await keyProofs.useUp(proved.usable)
    const reply = await call(client, parameters, facts, trace, proved)
    if (!usesFirst && !issuesTokens) await keyProofs.useUp(proved.usable)
    return withProofHeaders(respond(reply, client, request), proved)
  }
}

const forScope: CreateHandler = (steps, { authenticateScope, recorder }) => {
  const { bodyOf, formOf, otherParameters, factsOf, call, respond, endpoint } = steps
  const { denial = 'scope_authentication_failed' } = endpoint

  /** Records that a caller is not, or no longer, authenticated. */
  const denied = (error: unknown, trace: Trace): never => {
    recorder.record(trace, { type: denial, ...presentedScope(trace), reason: reasonOf(error) })
    throw error
  }

  /** Authenticates a scope before it parses the body: others must not learn whether the body is valid. */
  async function authenticateBeforeParsing(request: Request, trace: Trace) {
    try {
      const body = bodyOf(request)
      const bytes = body && (await body)
      if (request.headers.get('authorization') === null) {
        const form = formOf(bytes)
        const { scope, confirm } = await authenticateScope(request, form ?? noForm, trace)
        return { scope, confirm, parameters: form ?? otherParameters(request, bytes) }
      }
      const { scope, confirm, presentation } = await authenticateScope(request, noForm, trace)
      const form = formOf(bytes)
      if (form !== undefined) refuseSecondMethod(presentation, form)
      return { scope, confirm, parameters: form ?? otherParameters(request, bytes) }
    } catch (error) {
      return denied(error, trace)
    }
  }

  return async (request, trace) => {
    const { scope, parameters, confirm: check } = await authenticateBeforeParsing(request, trace)
    const proved = check && { confirm: () => check().catch((error) => denied(error, trace)) }
    return respond(await call(scope, parameters, factsOf(request, trace), trace, proved), scope, request)
  }
}

const forToken: CreateHandler = (steps, { accessTokens, keyProofs, recorder, errors, scopes }) => {
  const { bodyOf, formOf, otherParameters, factsOf, call, respond, endpoint } = steps
  const { scope = '' } = endpoint
  const accepted: readonly string[] = typeof scope === 'string' ? [scope] : scope
  const [requiredScope = ''] = accepted
  const [firstScheme, ...otherSchemes] = errors.schemes
  const schemes = [firstScheme.name, ...otherSchemes.map(({ name }) => name)] as const
  return async (request, trace) => {
    const body = bodyOf(request)
    const bytes = body && (await body)
    const form = formOf(bytes)
    const { token, scheme } = readAccessToken(request.headers.get('authorization'), form, schemes)
    trace.scheme = scheme
    if (endpoint.returnsClaims === true) trace.question = withClaims(false)
    const validation = await accessTokens.validate(token, trace.question)
    noteToken(trace, validation)
    const { fingerprint, sub } = validation
    const facts = factsOf(request, trace)
    const fail = (reason: string): void =>
      recorder.record(trace, { type: 'validation_failed', tokenType: 'access_token', reason, fingerprint })
    if (!validation.valid) {
      fail(validation.reason)
      throw new OAuthError('invalid_token', 'The access token is not valid', { reason: validation.reason })
    }
    const { client, claims, scopes: granted, confirmation } = validation
    const proof = keyProofs.confirm(facts, { token, scheme, client, confirmation })?.catch((error: unknown) => {
      fail(reasonOf(error))
      throw error
    })
    const proved = proof === undefined ? nothingProved : await proof
    const needsUser = accepted.some((name) => scopes.current.find(name)?.identity === true)
    if (!accepted.some((name) => granted.includes(name)) || (needsUser && sub === undefined)) {
      throw new OAuthError('insufficient_scope', `The access token must have the scope ${requiredScope}`, {
        reason: `${requiredScope}_missing`,
        scope: requiredScope,
      })
    }
    recorder.record(trace, { type: 'validation_succeeded', tokenType: 'access_token', fingerprint })
    const caller: TokenCaller = { client, sub, scopes: granted, claims: withoutClientSub(claims) }
    const reply = await call(caller, form ?? otherParameters(request, bytes), facts, trace, proved)
    return withProofHeaders(respond(reply, caller, request), proved)
  }
}

const forAnyone: CreateHandler = ({ bodyOfAnyone, otherParameters, factsOf, call, respond, endpoint }) => {
  const { readsBearer = false } = endpoint
  return async (request, trace) => {
    const body = bodyOfAnyone(request)
    const parameters = otherParameters(request, body && (await body))
    const proved = readsBearer ? { bearer: readBearer(request.headers.get('authorization')) } : undefined
    return respond(await call(undefined, parameters, factsOf(request, trace), trace, proved), undefined, request)
  }
}

const handlers: Readonly<Record<keyof Callers, CreateHandler>> = {
  client: forClient,
  scope: forScope,
  token: forToken,
  anyone: forAnyone,
}

/**
 * Creates the handler of an endpoint, once. For each kind of caller, it contains the steps in order: body, caller,
 * parameters, `handle`, response. Credentials are read from the header, or from the form of a POST or PUT; never from the
 * query, which appears in logs, or from JSON.
 */
export function createPipeline(endpoint: CoreEndpoint, kit: EndpointKit, services: Services): HandleRequest {
  const { caller } = endpoint
  const { validationLimits } = services
  const steps = createSteps(endpoint, kit, services)
  const handler = handlers[caller](steps, services)
  const handle =
    endpoint.effects === true && endpoint.emptyPage !== undefined
      ? exceptHead(handler, endpoint.emptyPage(kit.issuer))
      : handler
  const isLimited = caller === 'token' || endpoint.guessable === true
  const admitted = isLimited && validationLimits !== undefined ? limited(handle, validationLimits) : handle
  if (endpoint.admit === undefined) return admitted
  return async (request, trace) => {
    await endpoint.admit?.(steps.factsOf(request, trace)(), kit)
    return admitted(request, trace)
  }
}
