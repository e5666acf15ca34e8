import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { CredentialParameters } from './client-authentication.ts'
import { namedParameters } from './declared-parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { flag, oneOf, parameters, partKind, required, text } from './part-kind.ts'
import type { OwnedPart } from './plugin.ts'

/** The `endpoint` of events that belong to no endpoint. */
const reservedNames: ReadonlySet<string> = new Set(['unknown', 'authenticateUser', 'authorize', 'revoke'])

/** Whether this text can be the path of an endpoint. */
export const isPath = (path: unknown): path is `/${string}` =>
  typeof path === 'string' &&
  /^\/[\w\-.~/]*[\w\-.~]$/u.test(path) &&
  !path.split('/').some((segment) => segment === '.' || segment === '..')

export const endpointKind = partKind<Endpoint>(
  'endpoint',
  {
    name: v.pipe(
      text(/^[a-z][A-Za-z\d]{0,49}$/u, 'must be letters and digits, as in deviceAuthorization'),
      v.check((name) => !(name in {}) && !reservedNames.has(name), 'is reserved'),
    ),
    path: v.custom(isPath, 'must be a path such as /connect/device'),
    beforeIssuerPath: flag,
    metadataName: v.optional(
      text(/^[a-z][a-z\d_]{0,90}_(?:endpoint|uri)$/u, 'must be a name that ends with _endpoint or _uri'),
    ),
    methods: v.pipe(
      v.array(oneOf('GET', 'POST', 'PUT', 'DELETE'), "must be an array such as ['POST']"),
      v.check(({ length }) => length > 0, "must be an array such as ['POST']"),
    ),
    body: v.optional(oneOf('form', 'json')),
    caller: oneOf('client', 'scope', 'token', 'anyone'),
    scope: v.optional(text(/./u, 'must be the name of a scope')),
    cors: v.optional(oneOf('none', 'clients', 'public')),
    guessable: flag,
    readsProofs: flag,
    effects: flag,
    params: v.optional(parameters),
    handle: required,
    presentError: functionSchema(),
  },
  'name',
  ({ caller, scope, body, params, readsProofs, presentError }) => {
    if (readsProofs && caller !== 'client') return 'has readsProofs, which belongs to the caller client'
    if (presentError !== undefined && caller !== 'anyone') return 'has presentError, which belongs to the caller anyone'
    if (body === 'json' && params === undefined) return 'has the body json and requires params'
    if ((caller === 'token') === (scope !== undefined)) return undefined
    return `${scope === undefined ? 'requires' : 'cannot have'} scope, which belongs to the caller token`
  },
)

/** @throws TypeError when an endpoint declares a parameter that contains the credentials of its caller. */
export function assertEndpoint({ plugin, part }: OwnedPart<Endpoint>, credentials: CredentialParameters): void {
  const { name, caller, params } = part
  const declared = params === undefined ? [] : namedParameters(params)
  const taken = credentials[caller].find((parameter) => declared.includes(parameter))
  if (taken === undefined) return
  throw new TypeError(
    `plugins: the endpoint ${name} of ${plugin} cannot have ${taken} in params, because the core reads it; remove it`,
  )
}
