import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import { isOAuthError, OAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { parseFields, type RequestParameters } from '../http/parameters.ts'
import { jsonSchema } from '../json.ts'
import type { Confirmation, GrantRequest } from '../parts/grant.ts'
import type { GrantCheck } from '../parts/grant-check.ts'
import type { GrantKit } from '../parts/grant-kit.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import type { Registry } from '../parts/registry.ts'
import type { JsonObject } from '../types.ts'
import type { FailedProofs } from './failed-proofs.ts'
import type { PluginKits } from './plugin-kit.ts'
import type { CheckedResult } from './result.ts'

/** What grant checks add to a token request or to a stored grant. */
export interface Contributed {
  /** `undefined`: no check limits the audiences. */
  readonly audience: readonly string[] | undefined
  readonly demands: JsonObject
}

const noContribution: Contributed = Object.freeze({ audience: undefined, demands: {} })

/** A plugin is not trusted: its contribution is validated like any other input. */
const contributionSchema = v.optional(
  v.strictObject({ audience: v.optional(v.array(v.string())), demand: v.optional(jsonSchema) }),
)

/**
 * Adds the contribution of a check to those of the checks before it.
 *
 * @throws TypeError (a defect in the plugin) when the contribution is malformed, or the check could not settle its
 * demand.
 */
function withContribution(
  { audience, demands }: Contributed,
  { plugin, part: { settles } }: OwnedPart<GrantCheck>,
  contribution: unknown,
): Contributed {
  const parsed = v.safeParse(contributionSchema, contribution)
  if (!parsed.success) throw new TypeError(`The grant check of ${plugin} returned a malformed contribution`)
  const { audience: more, demand } = parsed.output ?? {}
  if (demand !== undefined && settles === undefined) {
    throw new TypeError(`The grant check of ${plugin} cannot make a demand, because it settles none`)
  }
  return {
    // Each check can only narrow.
    audience:
      audience === undefined || more === undefined ? (audience ?? more) : more.filter((api) => audience.includes(api)),
    demands: settles === undefined || demand === undefined ? demands : { ...demands, [settles]: demand },
  }
}

/** What grant checks add to a stored grant. */
export interface AuthorizationContributed extends Contributed {
  /** The keys that the request that redeems the grant must prove. */
  readonly confirmation: Confirmation | undefined
}

/**
 * Adds keys to those that are already required.
 *
 * @throws OAuthError `invalid_request` when the authorization request names two keys of the same kind.
 * @throws TypeError (a defect in the plugin or the host) when no token binding could verify a key.
 */
function withKeys(
  required: Confirmation | undefined,
  more: unknown,
  bindings: Registry['bindings'],
): Confirmation | undefined {
  if (more === undefined) return required
  const keys = Object.entries(Object(more))
  if (!bindings.canVerify(Object(more)) || !keys.every(([, key]) => typeof key === 'string')) {
    throw new TypeError('An authorization requires a key that no token binding can verify')
  }
  if (keys.some(([member, key]) => required?.[member] !== undefined && required[member] !== key)) {
    throw new OAuthError('invalid_request', 'The request names different keys', { reason: 'keys_differ' })
  }
  return keys.length === 0 ? required : { ...required, ...Object.fromEntries(keys as [string, string][]) }
}

/** Lets the checks of a grant type read an authorization request, and returns what they contribute. */
export type ReadAuthorization = (
  grantType: string,
  request: {
    readonly client: Client
    readonly params: RequestParameters
    /** The demand that the stored grant must make, if there is one. */
    readonly required: string | undefined
    /** The keys that the stored grant must require. */
    readonly confirmation: Confirmation | undefined
    /** Seconds. */
    readonly lifetime: number
  },
) => Promise<AuthorizationContributed>

export function createReadAuthorization(registry: Registry, plugins: PluginKits): ReadAuthorization {
  const { bindings } = registry
  return async (grantType, { client, params, required, confirmation: proved, lifetime }) => {
    let contributed = noContribution
    let confirmation = withKeys(undefined, proved, bindings)
    for (const owned of registry.checksOf(grantType)) {
      const { plugin, part } = owned
      if (part.authorization === undefined) continue
      const parsed = await parseFields(part.authorization.params, params)
      const isRequired = part.settles !== undefined && part.settles === required
      const request = { client, params: parsed, required: isRequired, lifetime }
      const outcome: unknown = await part.authorization.check(request, plugins.kitOf(plugin))
      const { confirmation: named, ...contribution } = Object(outcome) as { readonly confirmation?: unknown }
      contributed = withContribution(contributed, owned, contribution)
      confirmation = withKeys(confirmation, named, bindings)
    }
    return { confirmation, ...contributed }
  }
}

/** A grant check with its parsed parameters and its kit. */
export interface PreparedCheck {
  readonly check: OwnedPart<GrantCheck>
  readonly params: unknown
  readonly kit: GrantKit
}

/**
 * Runs the checks of a grant type. Counts failed proofs, which end a stored grant at the tenth.
 *
 * @returns what the checks contribute; `undefined` if a demand is not settled.
 */
export type SettleDemands = (
  result: CheckedResult,
  checks: readonly PreparedCheck[],
  request: Omit<GrantRequest<unknown>, 'params'> & { readonly grantType: string },
  trace: Trace,
) => Promise<Contributed | undefined>

export function createDemandSettlement(failedProofs: FailedProofs): SettleDemands {
  return async ({ demanded, stored, subject, claims }, checks, request, trace) => {
    const unsettled = new Set(Object.keys(demanded))
    let contributed = noContribution
    for (const { check, params, kit } of checks) {
      const { settles = '' } = check.part as GrantCheck & { readonly settles?: string }
      const demand = demanded[settles]
      try {
        const contribution = await check.part.check(
          { params, demand: demand as never, subject, claims, ...request },
          kit,
        )
        contributed = withContribution(contributed, check, contribution)
      } catch (error) {
        const isFailedProof = demand !== undefined && isOAuthError(error) && error.code === 'invalid_grant'
        if (isFailedProof && stored !== undefined) await failedProofs.record(stored, request.client, trace)
        throw error
      }
      unsettled.delete(settles)
    }
    return unsettled.size === 0 ? contributed : undefined
  }
}
