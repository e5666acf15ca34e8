import type { Client } from '../directory/client.ts'
import type { Grant } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { Schema } from '../standard-schema.ts'
import type { hiddenParametersOf } from './client-authentication.ts'
import { byClaim, type OwnedPart } from './collect.ts'
import { declaredParameters, isSchema, namedParameters } from './schema.ts'

/** The grants of the plugins, and the checks that run on them. */
export interface RegisteredGrants {
  readonly grants: ReadonlyMap<string, Grant>
  /** Returns the name of the plugin that provides the grant type. */
  pluginOf(grantType: string): string
  /** The checks that run on a grant type, with their plugins. Returns the same array every time. */
  checksOf(grantType: string): readonly OwnedPart<GrantCheck>[]
  /** Returns the grant that redeems stored grants of this kind. */
  redeemerOf(kind: string): Grant | undefined
  /** Whether a check of the grant type turns this parameter of an authorization request into a demand. */
  demandsBy(grantType: string, parameter: string): boolean
  /** The demands that a stored grant of this kind must make for this client. */
  requiredDemands(kind: string, client: Client): readonly string[]
  /** Whether the grant type, or a check that runs on it, declares the parameter. */
  declares(grantType: string, parameter: string): boolean
}

// RFC 6749 appendix A.10: a name of letters, digits, `-`, `.`, `_`, or a URI reference.
const grantTypeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/u

function assertOneOf(plugin: string, name: string, value: unknown, known: readonly unknown[]): void {
  if (value === undefined || known.includes(value)) return
  throw new TypeError(`plugins: ${plugin} has an unknown value of ${name}; known values: ${known.join(', ')}`)
}

/** The parameters that plugins do not receive, above all credentials, with the plugin that reads each. */
type HiddenParameters = ReturnType<typeof hiddenParametersOf>

function assertParameters(name: string, params: Schema, hidden: HiddenParameters): void {
  for (const taken of namedParameters(params)) {
    const reader = hidden.get(taken)
    if (reader === undefined) continue
    const who = reader === 'core' ? 'the core' : reader
    throw new TypeError(`plugins: ${name} cannot have ${taken} in params, because ${who} reads it; remove it`)
  }
}

function assertGrant(grant: Grant, hidden: HiddenParameters): void {
  if (typeof grant.grantType !== 'string' || !grantTypeForm.test(grant.grantType)) {
    throw new TypeError(
      `plugins: "${String(grant.grantType)}" is not a valid grant type; use a short name or an absolute URI of at most 100 characters`,
    )
  }
  const name = `the grant ${grant.grantType}`
  if (typeof grant.handle !== 'function' || !isSchema(grant.params)) {
    throw new TypeError(`plugins: ${name} requires params (a Standard Schema, such as v.object()) and handle()`)
  }
  assertParameters(name, grant.params, hidden)
  assertOneOf(name, 'scope', grant.scope, ['required', 'optional', 'ignored'])
  if (grant.defaultScopes !== undefined && (typeof grant.defaultScopes !== 'function' || grant.scope !== 'optional')) {
    throw new TypeError(`plugins: ${name} can have defaultScopes, a function, only with scope: 'optional'`)
  }
  assertOneOf(name, 'publicClients', grant.publicClients, [true, false])
  assertOneOf(name, 'withoutUser', grant.withoutUser, [true, false])
  assertOneOf(name, 'refusalCode', grant.refusalCode, ['invalid_grant', 'invalid_request'])
  const { kind, redirect, publicClientsNeed } = grant.stored ?? { kind: 'code' }
  if (typeof kind !== 'string' || !/^[a-z][a-z\d-]{0,29}$/u.test(kind) || kind === 'plugin') {
    throw new TypeError(`plugins: ${name} has an invalid stored.kind; use lower-case letters, digits and hyphens`)
  }
  assertOneOf(name, 'stored.redirect', redirect, [true, false])
  if (publicClientsNeed !== undefined && typeof publicClientsNeed !== 'string') {
    throw new TypeError(`plugins: ${name} has an invalid stored.publicClientsNeed; use the name of a demand`)
  }
  for (const required of grant.requires ?? []) assertOneOf(name, 'requires', required, ['users.authenticate'])
}

function assertCheck({ plugin, part: check }: OwnedPart<GrantCheck>, hidden: HiddenParameters): void {
  const name = `the grant check of ${plugin}`
  if (check.settles !== undefined && !(typeof check.settles === 'string' && (check.settles as string) !== '')) {
    throw new TypeError(`plugins: ${name} has an invalid settles; use the name of the demand that it settles`)
  }
  if (typeof check.check !== 'function' || !isSchema(check.params)) {
    throw new TypeError(`plugins: ${name} requires params (a Standard Schema, such as v.object()) and check()`)
  }
  assertParameters(name, check.params, hidden)
  if (check.grantTypes !== 'all' && (!Array.isArray(check.grantTypes) || check.grantTypes.length === 0)) {
    throw new TypeError(`plugins: ${name} requires grantTypes, an array of the grant types that it runs on, or 'all'`)
  }
  const { authorization } = check
  if (authorization !== undefined && (typeof authorization?.check !== 'function' || !isSchema(authorization.params))) {
    throw new TypeError(
      `plugins: ${name} requires params (a Standard Schema, such as v.object()) and check() in authorization`,
    )
  }
}

/**
 * Collects the grants and the checks of the plugins.
 *
 * @throws TypeError when one is malformed, or two plugins provide the same one.
 */
export function grantsOf(
  grants: readonly OwnedPart<Grant>[],
  checks: readonly OwnedPart<GrantCheck>[],
  hidden: HiddenParameters,
): RegisteredGrants {
  for (const { part } of grants) assertGrant(part, hidden)
  for (const check of checks) assertCheck(check, hidden)
  const byGrantType = byClaim(grants, 'the grant type', ({ grantType }) => grantType)
  byClaim(checks, 'a check of the demand', ({ settles }) => settles)
  const byKind = byClaim(grants, 'the redemption of stored grants of the kind', ({ stored }) => stored?.kind)

  const checksByGrantType = new Map<string, readonly OwnedPart<GrantCheck>[]>()
  /** Has no entry for a grant type if its grant or a check accepts any parameter. */
  const declaredByGrantType = new Map<string, ReadonlySet<string>>()
  for (const [grantType, { part }] of byGrantType) {
    const itsChecks = checks.filter(
      ({ part: { grantTypes } }) => grantTypes === 'all' || grantTypes.includes(grantType),
    )
    checksByGrantType.set(grantType, itsChecks)
    const declared = [part, ...itsChecks.map((check) => check.part)].map(({ params }) => declaredParameters(params))
    if (!declared.includes(undefined))
      declaredByGrantType.set(grantType, new Set(declared.flatMap((names) => names ?? [])))
  }
  const none: readonly OwnedPart<GrantCheck>[] = []
  return {
    grants: new Map([...byGrantType].map(([grantType, { part }]) => [grantType, part])),
    pluginOf: (grantType) => byGrantType.get(grantType)?.plugin ?? grantType,
    checksOf: (grantType) => checksByGrantType.get(grantType) ?? none,
    redeemerOf: (kind) => byKind.get(kind)?.part,
    demandsBy: (grantType, parameter) =>
      (checksByGrantType.get(grantType) ?? none).some(
        ({ part: { settles, authorization } }) =>
          settles !== undefined &&
          authorization !== undefined &&
          (declaredParameters(authorization.params)?.includes(parameter) ?? true),
      ),
    requiredDemands(kind, client) {
      const needed = client.public ? byKind.get(kind)?.part.stored?.publicClientsNeed : undefined
      return needed === undefined ? client.requiredDemands : [...client.requiredDemands, needed]
    },
    declares: (grantType, parameter) => declaredByGrantType.get(grantType)?.has(parameter) ?? true,
  }
}
