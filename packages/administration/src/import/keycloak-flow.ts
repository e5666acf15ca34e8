import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { objectsIn } from './imported.ts'
import type { Reader } from './reader.ts'

/**
 * The demands of a flow on users, in ascending order: a password, a second factor, or something that cannot be read.
 */
const demands = ['password', 'factor', 'unknown'] as const
type FlowDemand = (typeof demands)[number]

/** The facts about the flows of a realm that clients need. */
export interface FlowFacts {
  /** Returns the demand of the flow of a realm, or of a client. */
  readonly demandOf: {
    readonly pages: (override: unknown) => FlowDemand
    readonly passwords: (override: unknown) => FlowDemand
  }
  /** The names of the levels of authentication. */
  readonly levels: unknown
}

const greatest = (all: readonly FlowDemand[]): FlowDemand =>
  all.reduce((left, right) => (demands.indexOf(left) < demands.indexOf(right) ? right : left), 'password')

const least = (all: readonly FlowDemand[]): FlowDemand =>
  all.reduce((left, right) => (demands.indexOf(left) < demands.indexOf(right) ? left : right), 'unknown')

/** Other ways in, which are no password here: a session, a provider, Kerberos; and what only finds one. */
const otherWays = /^(?:auth-cookie|auth-spnego|identity-provider-redirector|no-cookie-redirect|organization)$/u
const passwords =
  /^(?:auth-username-password-form|auth-username-form|auth-password-form|direct-grant-validate-(?:username|password))$/u
const factors =
  /^(?:auth-otp-form|webauthn-authenticator(?:-passwordless)?|auth-recovery-authn-code-form|direct-grant-validate-otp)$/u
/** A user who has a factor is disabled. For all others, a flow with this condition demands nothing. */
const ownFactor = 'conditional-user-configured'
/**
 * Requests and clients that demand a level: those of the clients are read. A user without a level passes this condition, so
 * all users pass the first flow that has it.
 */
const level = 'conditional-level-of-authentication'

const isActive = ({ requirement }: Members): boolean => requirement !== 'DISABLED'

const priorityOf = ({ priority }: Members): number => (typeof priority === 'number' ? priority : 0)

/** Returns the executions of a flow in their order. */
const activeIn = ({ authenticationExecutions }: Members): readonly Members[] =>
  objectsIn(authenticationExecutions)
    .filter(isActive)
    .sort((left, right) => priorityOf(left) - priorityOf(right))

const conditionsOf = (flow: Members): readonly string[] =>
  activeIn(flow)
    .map(({ authenticator }) => String(authenticator))
    .filter((name) => name.startsWith('conditional-'))

/** Reads the flows of a realm. */
export function createFlows(realm: Members) {
  const flows = objectsIn(realm.authenticationFlows)
  const find = (name: unknown): Members | undefined =>
    flows.find(({ id, alias }) => alias === name || (id !== undefined && id === name))

  /** Whether all users have a level after a step. */
  function givesLevel({ requirement, flowAlias }: Members): boolean {
    const conditions = requirement === 'CONDITIONAL' ? conditionsOf(find(flowAlias) ?? {}) : []
    return conditions.length > 0 && conditions.every((name) => name === level)
  }

  function demandOfStep(step: Members, depth: number, earlier: readonly Members[]): FlowDemand | undefined {
    if (step.flowAlias !== undefined || step.authenticatorFlow === true) {
      const flow = find(step.flowAlias)
      const demand = flow === undefined ? 'unknown' : demandOfFlow(flow, depth + 1)
      if (flow === undefined || demand !== 'factor' || step.requirement !== 'CONDITIONAL') return demand
      const conditions = conditionsOf(flow)
      const isOwn = conditions.includes(ownFactor)
      return isOwn || (conditions.includes(level) && earlier.some(givesLevel)) ? 'password' : demand
    }
    const name = String(step.authenticator)
    if (otherWays.test(name)) return undefined
    return passwords.test(name) ? 'password' : factors.test(name) ? 'factor' : 'unknown'
  }

  function demandOfFlow(flow: Members, depth: number): FlowDemand | undefined {
    // A flow that contains itself.
    if (depth > 20) return 'unknown'
    const conditions = conditionsOf(flow)
    const steps = activeIn(flow).filter(({ authenticator }) => !conditions.includes(String(authenticator)))
    const isDemanded = steps.filter(({ requirement }) => requirement !== 'ALTERNATIVE')
    const of = (list: readonly Members[]) =>
      list.flatMap((step) => demandOfStep(step, depth, steps.slice(0, steps.indexOf(step))) ?? [])
    const demanded = of(isDemanded)
    if (isDemanded.length === 0) return chosenOf(of(steps))
    return demanded.length > 0 ? greatest(demanded) : undefined
  }

  /** Returns the demand of alternatives, of which users choose one. */
  const chosenOf = (ways: readonly FlowDemand[]): FlowDemand | undefined =>
    ways.length === 0 ? undefined : least(ways)

  /**
   * Returns what a flow demands. A flow without a way for passwords is none that can be read. The standard flow of a realm whose
   * export has no flows demands a password.
   */
  return (name: unknown, standard: string): FlowDemand => {
    const flow = find(name ?? standard)
    if (flow !== undefined) return demandOfFlow(flow, 0) ?? 'unknown'
    return (name ?? standard) === standard && flows.length === 0 ? 'password' : 'unknown'
  }
}

/** Levels by name, of the realm or a client. */
function levelsIn(text: unknown): Members {
  try {
    const parsed: unknown = typeof text === 'string' ? JSON.parse(text) : text
    return isJsonObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

/**
 * Whether a client demands more than the first level of authentication. A level that is not known is more.
 *
 * @param values names or numbers of levels
 * @param maps the members `acr.loa.map`: the first that has a name counts
 */
function demandsLevel(values: readonly string[], maps: readonly unknown[]): boolean {
  const levels = maps.map(levelsIn)
  return values.some((value) => {
    const mapped = levels.find((map) => Object.hasOwn(map, value))?.[value] ?? value
    return !/^[01]$/u.test(String(mapped))
  })
}

const byPage = (grant: string): boolean => grant === 'authorization_code' || grant.endsWith(':device_code')

/** Returns the grants of a client whose demands can be kept, and the members that keep them. */
export function demandsOf(
  all: readonly string[],
  reader: Reader,
  attributes: Reader,
  { demandOf, levels }: FlowFacts,
): { readonly grants: readonly string[]; readonly members: Members } {
  const exported = reader.take('authenticationFlowBindingOverrides')
  const overrides: Members = isJsonObject(exported) ? exported : {}
  const values = [attributes.text('minimum.acr.value') ?? [], attributes.text('default.acr.values')?.split('##') ?? []]
  const isByLevel = demandsLevel(values.flat(), [attributes.take('acr.loa.map'), levels])
  const hasPages = all.some(byPage)
  const demand = hasPages
    ? greatest([demandOf.pages(overrides.browser), isByLevel ? 'factor' : 'password'])
    : 'password'
  const isRefused = all.includes('password') && (isByLevel || demandOf.passwords(overrides.direct_grant) !== 'password')
  const add = (member: string, what: string) => reader.changed(member, what, 'sign-in')
  if (isRefused)
    add('directAccessGrantsEnabled', 'the grant type password was left out: its flow demands more than the password')
  if (demand === 'factor')
    add(
      'browserFlow',
      'demands a second factor: requireSecondFactor was set, which needs secondFactors of the account page; users without one set it up during the sign-in',
    )
  if (demand === 'unknown')
    add(
      'browserFlow',
      'demands steps that the import cannot read, so the client is disabled; delete "enabled": false in the file if the password suffices',
    )
  return {
    grants: isRefused ? all.filter((grant) => grant !== 'password') : all,
    members: {
      ...(demand !== 'password' && { requireSecondFactor: true }),
      ...(demand === 'unknown' && { enabled: false }),
    },
  }
}
