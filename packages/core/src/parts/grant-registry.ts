import type { Client } from '../directory/client.ts'
import { declaredParameters, namedParameters, type Schema } from '../standard-schema.ts'
import type { hiddenParametersOf } from './client-authentication.ts'
import type { Grant } from './grant.ts'
import type { GrantCheck } from './grant-check.ts'
import { byClaim } from './part-kind.ts'
import type { OwnedPart } from './plugin.ts'

/** The grants of the plugins, and the checks that run on them. */
export interface RegisteredGrants {
  readonly grants: ReadonlyMap<string, Grant>
  /** Returns the grant for a request: several plugins can provide variants of a grant type. */
  grantFor(grantType: string, parameters: Readonly<Record<string, string | undefined>>): OwnedPart<Grant> | undefined
  /** The checks that run on a grant type, with their plugins. Returns the same array every time. */
  checksOf(grantType: string): readonly OwnedPart<GrantCheck>[]
  /** Returns the grant that redeems stored grants of this kind. */
  redeemerOf(kind: string): Grant | undefined
  /** Whether a check of the grant type turns this parameter of an authorization request into a demand. */
  demandsBy(grantType: string, parameter: string): boolean
  /** The demand that a stored grant of this kind must make for this client, if there is one. */
  requiredDemand(kind: string, client: Client): string | undefined
  /** Whether the grant type, or a check that runs on it, declares the parameter. */
  declares(grantType: string, parameter: string): boolean
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

/** What clients can expect of a grant type: what one of its variants allows. */
const commonOf = (variants: readonly Grant[]): Pick<Grant, 'publicClients' | 'withoutUser'> => ({
  publicClients: variants.some(({ publicClients }) => publicClients === true),
  withoutUser: variants.every(({ withoutUser }) => withoutUser === true),
})

/**
 * Collects the grants and the checks of the plugins.
 *
 * @throws TypeError when one declares a parameter that it would not receive, or two plugins provide the same one.
 */
export function grantsOf(
  grants: readonly OwnedPart<Grant>[],
  checks: readonly OwnedPart<GrantCheck>[],
  hidden: HiddenParameters,
): RegisteredGrants {
  for (const { part } of grants) assertParameters(`the grant ${part.grantType}`, part.params, hidden)
  for (const { plugin, part } of checks) assertParameters(`the grant check of ${plugin}`, part.params, hidden)
  const variantsByGrantType = new Map<string, OwnedPart<Grant>[]>()
  for (const owned of grants) {
    const { grantType, variant } = owned.part
    if (variant) variantsByGrantType.set(grantType, [...(variantsByGrantType.get(grantType) ?? []), owned])
  }
  const byGrantType = new Map(
    byClaim(grants, 'the grant type', ({ variant, grantType }) => (variant ? undefined : grantType)),
  )
  for (const [grantType, [first]] of variantsByGrantType) {
    if (first !== undefined && !byGrantType.has(grantType)) byGrantType.set(grantType, first)
  }
  byClaim(checks, 'a check of the demand', ({ settles }) => settles)
  const byKind = byClaim(grants, 'the redemption of stored grants of the kind', ({ stored }) => stored?.kind)

  const checksByGrantType = new Map<string, readonly OwnedPart<GrantCheck>[]>()
  /** Has no entry for a grant type if its grant or a check accepts any parameter. */
  const declaredByGrantType = new Map<string, ReadonlySet<string>>()
  for (const [grantType, grant] of byGrantType) {
    const itsChecks = checks.filter(
      ({ part: { grantTypes } }) => grantTypes === 'all' || grantTypes.includes(grantType),
    )
    checksByGrantType.set(grantType, itsChecks)
    const itsVariants = variantsByGrantType.get(grantType) ?? []
    const declared = [grant, ...itsVariants, ...itsChecks].map(({ part: { params } }) => declaredParameters(params))
    if (!declared.includes(undefined))
      declaredByGrantType.set(grantType, new Set(declared.flatMap((names) => names ?? [])))
  }
  const none: readonly OwnedPart<GrantCheck>[] = []
  return {
    grants: new Map(
      [...byGrantType].map(([grantType, { part }]) => {
        const all = [part, ...(variantsByGrantType.get(grantType) ?? []).map((variant) => variant.part)]
        return [grantType, { ...part, ...commonOf(all) }]
      }),
    ),
    grantFor: (grantType, parameters) =>
      variantsByGrantType
        .get(grantType)
        ?.find(({ part: { variant } }) => variant?.matches(parameters[variant.parameter] ?? '')) ??
      byGrantType.get(grantType),
    checksOf: (grantType) => checksByGrantType.get(grantType) ?? none,
    redeemerOf: (kind) => byKind.get(kind)?.part,
    demandsBy: (grantType, parameter) =>
      (checksByGrantType.get(grantType) ?? none).some(
        ({ part: { settles, authorization } }) =>
          settles !== undefined &&
          authorization !== undefined &&
          (declaredParameters(authorization.params)?.includes(parameter) ?? true),
      ),
    requiredDemand: (kind, client) => (client.public ? byKind.get(kind)?.part.stored?.publicClientsDemand : undefined),
    declares: (grantType, parameter) => declaredByGrantType.get(grantType)?.has(parameter) ?? true,
  }
}
