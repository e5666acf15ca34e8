import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import { createSegmentsOf, jsonBody } from '../http/read-parameters.ts'
import { isPath } from '../parse-url.ts'
import { namedParameters, type OutputOf, type Schema } from '../standard-schema.ts'
import type { MaybePromise } from '../types.ts'
import { requirements } from './capability.ts'
import type { CredentialParameters } from './client-authentication.ts'
import type { Call, Callers, Endpoint, EndpointKit } from './endpoint.ts'
import { emptyPage } from './html-policy.ts'
import { type Defined, flag, type Owned, oneOf, parameters, partKind, required, text } from './part-kind.ts'
import { problemResponse } from './problem.ts'
import type { Reply } from './reply.ts'
import { createToResponse } from './reply.ts'

/** The `endpoint` of events that belong to no endpoint. */
const reservedNames: ReadonlySet<string> = new Set(['unknown', 'authenticateUser', 'authorize', 'revoke'])

/** @throws TypeError when an endpoint declares a parameter that contains the credentials of its caller. */
function assertParameters({ plugin, part }: Owned<Endpoint>, credentials: CredentialParameters): void {
  const { name, caller, params } = part
  const declared = params === undefined ? [] : namedParameters(params)
  const taken = credentials[caller].find((parameter) => declared.includes(parameter))
  if (taken === undefined) return
  throw new TypeError(
    `plugins: the endpoint ${name} of ${plugin} cannot have ${taken} in params, because the core reads it; remove it`,
  )
}

/** @param paths the absolute paths of the enabled endpoints */
function assertNoneBelow({ plugin, part: { name } }: Owned<Endpoint>, paths: ReadonlyMap<string, string>): void {
  const ownPath = paths.get(name)
  for (const [endpoint, path] of paths) {
    if (ownPath === undefined || !path.startsWith(`${ownPath}/`)) continue
    throw new TypeError(
      `endpoints: ${endpoint} has the path ${path}, which is below that of ${name} of the plugin ${plugin}; move one of them`,
    )
  }
}

/** An endpoint of a plugin, with what only endpoints of plugins need. */
export interface InstalledEndpoint extends Owned<Endpoint> {
  /** @throws TypeError when it declares a parameter that contains the credentials of its caller. */
  readonly assertParameters: (credentials: CredentialParameters) => void
  readonly createToResponse: typeof createToResponse
  readonly emptyPage: typeof emptyPage
  readonly toProblem: typeof problemResponse
  readonly createSegmentsOf: typeof createSegmentsOf
  /** Set if its bodies are JSON. */
  readonly jsonBody: typeof jsonBody | undefined
  /**
   * Set if it has all paths below its own.
   *
   * @throws TypeError when another endpoint has one of these
   */
  readonly assertNoneBelow?: (paths: ReadonlyMap<string, string>) => void
}

const installed = (owned: Owned<Endpoint>): InstalledEndpoint => ({
  ...owned,
  assertParameters: (credentials) => assertParameters(owned, credentials),
  createToResponse,
  emptyPage,
  toProblem: problemResponse,
  createSegmentsOf,
  jsonBody: owned.part.body === 'json' ? jsonBody : undefined,
  ...(owned.part.subpaths === true && { assertNoneBelow: (paths) => assertNoneBelow(owned, paths) }),
})

const scopes = () => {
  const scope = text(/./u, 'must be the name of a scope')
  return v.lazy((value) => (Array.isArray(value) ? v.pipe(v.array(scope), v.nonEmpty('must not be empty')) : scope))
}

const endpointKind = /* @__PURE__ */ partKind<Endpoint, readonly InstalledEndpoint[]>('endpoint', {
  title: 'endpoint',
  name: 'name',
  schemas: () => ({
    name: v.pipe(
      text(/^[a-z][A-Za-z\d]{0,49}$/u, 'must be letters and digits, as in deviceAuthorization'),
      v.check((name) => !(name in {}) && !reservedNames.has(name), 'is reserved'),
    ),
    path: v.custom(isPath, 'must be a path such as /connect/device'),
    beforeIssuerPath: flag(),
    subpaths: flag(),
    metadataName: v.optional(
      text(/^[a-z][a-z\d_]{0,90}_(?:endpoint|uri)$/u, 'must be a name that ends with _endpoint or _uri'),
    ),
    methods: v.pipe(
      v.array(oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'), "must be an array such as ['POST']"),
      v.check(({ length }) => length > 0, "must be an array such as ['POST']"),
    ),
    body: v.optional(oneOf('form', 'json')),
    caller: oneOf('client', 'scope', 'token', 'anyone'),
    scope: v.optional(scopes()),
    cors: v.optional(oneOf('none', 'clients', 'public')),
    guessable: flag(),
    readsProofs: v.optional(v.union([v.boolean(), v.literal('before_reply')], 'must be true, false or before_reply')),
    readsBearer: flag(),
    effects: flag(),
    problems: flag(),
    requires: v.optional(requirements()),
    admit: functionSchema(),
    params: v.optional(parameters()),
    handle: required(),
    presentError: functionSchema(),
  }),
  problemOf({ caller, scope, body, params, readsProofs, readsBearer, presentError, problems }) {
    if (problems && presentError !== undefined) return 'has problems and also presentError'
    if (readsProofs && caller !== 'client') return 'has readsProofs, which belongs to the caller client'
    if (readsBearer && caller !== 'anyone') return 'has readsBearer, which belongs to the caller anyone'
    if (presentError !== undefined && caller !== 'anyone') return 'has presentError, which belongs to the caller anyone'
    if (body === 'json' && params === undefined) return 'has the body json and requires params'
    if ((caller === 'token') === (scope !== undefined)) return undefined
    return `${scope === undefined ? 'requires' : 'cannot have'} scope, which belongs to the caller token`
  },
  collect: (parts) => parts.map(installed),
})

/** Rejects replies with excess members, of which `R` can be a union: a mistyped member does not compile. */
type Exactly<R> = [R extends unknown ? Exclude<keyof R, keyof Reply> : never] extends [never] ? unknown : never

/**
 * Defines an endpoint, with `params` and `caller` typed.
 *
 * @example
 * const ping = defineEndpoint({
 *   name: 'ping',
 *   path: '/connect/ping',
 *   methods: ['POST'],
 *   caller: 'client',
 *   params: v.object({ text: v.string() }),
 *   handle: ({ caller, params }) => ({ json: { client: caller.clientId, text: params.text } }),
 * })
 */
export function defineEndpoint<const S extends Schema, const C extends keyof Callers, R extends Reply>(
  endpoint: Omit<Endpoint<S, C>, keyof Defined | 'handle'> & {
    handle(call: Call<OutputOf<S>, C>, kit: EndpointKit): MaybePromise<R>
  } & Exactly<R>,
): Endpoint<S, C> {
  return { ...endpoint, kind: 'endpoint', '~kind': endpointKind }
}
