import type { ErrorRecipient } from '../errors/error-codes.ts'
import type { Trace } from '../events/recorder.ts'
import type { Call, Callers, Endpoint, EndpointKit, EndpointRequest } from '../parts/endpoint.ts'
import type { InstalledEndpoint } from '../parts/endpoint-kind.ts'
import type { Defined } from '../parts/part-kind.ts'
import type { Reply } from '../parts/reply.ts'
import type { UsableProof } from '../parts/token-binding.ts'
import { after } from '../promises.ts'
import type { Services } from '../services.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { MaybePromise } from '../types.ts'

/** A request to an endpoint. Most endpoints of the core read no facts about it, so they are determined on demand. */
export interface CoreCall<P = unknown, C extends keyof Callers = keyof Callers> extends Omit<Call<P, C>, 'request'> {
  facts(): EndpointRequest
  /**
   * Refuses a scope whose secret another process has just removed, and returns the current scope, with its rights.
   * `undefined` if the scope cannot have changed. An endpoint of the core calls this function beside its other reads,
   * before it decides.
   */
  readonly confirm?: (() => Promise<Callers[C]>) | undefined
  /** The proofs that the token endpoint uses up in its commit. */
  readonly usable?: readonly UsableProof[] | undefined
}

/**
 * An endpoint as the pipeline calls it. The trace of the request is for the events of the core, and not part of the
 * contract with plugins: a plugin could change the client that the CORS decision depends on.
 */
export interface CoreEndpoint<S extends Schema = Schema, C extends keyof Callers = keyof Callers>
  extends Omit<Endpoint<S, C>, keyof Defined | 'handle'>,
    Partial<Pick<InstalledEndpoint, 'createToResponse' | 'emptyPage' | 'toProblem' | 'createSegmentsOf' | 'jsonBody'>> {
  /** The event when the caller `scope` cannot be authenticated. Default: `scope_authentication_failed`. */
  readonly denial?: 'introspection_denied' | undefined
  /** Set for the validation endpoints: every refusal has the status 400 (the seed, section 7). */
  readonly refusesWith400?: true | undefined
  /** Set for userinfo: the claims of the user are asked for after the token is validated. */
  readonly returnsClaims?: true | undefined
  /** Set for the token endpoint. */
  readonly issuesTokens?: true | undefined
  handle(call: CoreCall<OutputOf<S>, C>, kit: EndpointKit, trace: Trace): MaybePromise<Reply>
}

/** Returns the recipient of errors, for their status and headers. */
export function errorRecipientOf({ caller, readsBearer, refusesWith400 }: CoreEndpoint): ErrorRecipient {
  if (refusesWith400) return 'validation'
  return caller === 'token' || readsBearer ? 'bearer' : 'client'
}

/** The facts about an endpoint that are known before the services exist. */
export type EndpointFacts = Pick<Endpoint, 'name' | 'path' | 'metadataName' | 'beforeIssuerPath' | 'subpaths'>

/** What only endpoints of the core announce. */
interface Announcements {
  /** The member of the discovery document that lists how the caller authenticates (RFC 8414 section 2). */
  readonly methodsMember?: `${string}_auth_methods_supported` | undefined
}

/** An endpoint of the core. `open` creates it. */
export interface BuiltIn<N extends string = string> extends EndpointFacts, Announcements {
  readonly name: N
  readonly caller: keyof Callers
  open(services: Services): CoreEndpoint
}

/** Defines an endpoint of the core: its facts, and a function that creates `handle`. */
export const builtIn = <const N extends string, const S extends Schema, const C extends keyof Callers>(
  facts: Omit<CoreEndpoint<S, C>, 'name' | 'handle'> & Announcements & { readonly name: N },
  createHandle: (services: Services) => CoreEndpoint<S, C>['handle'],
): BuiltIn<N> => ({
  ...facts,
  open: (services) => ({ ...facts, handle: createHandle(services) }) as CoreEndpoint,
})

/** An endpoint of a plugin. Its `handle` does not receive the trace. */
export function fromPlugin({
  part: endpoint,
  createToResponse,
  emptyPage,
  toProblem,
  createSegmentsOf,
  jsonBody,
}: InstalledEndpoint): CoreEndpoint {
  const { name, path, methods, caller, scope, cors, guessable, effects, params, subpaths } = endpoint
  const { readsProofs, readsBearer } = endpoint
  const handle: CoreEndpoint['handle'] = ({ caller, params, facts, confirmation, bearer, confirm }, kit) =>
    after(confirm?.(), (present = caller) =>
      endpoint.handle({ caller: present, params, request: facts(), confirmation, bearer }, kit),
    )
  const rights = { caller, scope, cors, guessable, readsProofs, readsBearer, effects }
  const facts = { name, path, methods: [...methods], jsonBody, params, ...rights, createToResponse, emptyPage }
  // The alias of the endpoint is found by `metadataName`.
  return {
    ...facts,
    ...(subpaths === true && { subpaths, createSegmentsOf }),
    metadataName: endpoint.metadataName,
    presentError: endpoint.presentError,
    ...(endpoint.problems === true && { toProblem }),
    ...(endpoint.admit !== undefined && { admit: (request, kit) => endpoint.admit?.(request, kit) }),
    handle,
  }
}
