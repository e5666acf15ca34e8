import type { EndpointKit, Reply } from '@grantry/core'
import type {
  AuthorizationFeature,
  Interaction,
  SessionCheck,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { otpPaths } from './paths.ts'
import type { AccountServices } from './services.ts'
import { accountClientId, urlOf, type Visit } from './visit.ts'

type Demanding = Pick<
  AccountServices,
  | 'client'
  | 'clientDemands'
  | 'passkeys'
  | 'requireSecondFactor'
  | 'secondFactorAcr'
  | 'secondFactorAcrValues'
  | 'secondFactors'
>

/** The path at which a user who has signed in again, with an existing factor, continues the request. */
export const resumePath = 'resume'

/**
 * Whether a request asks for a factor: by `acr_values`, by the claim `acr`, or by an essential one that a session has only
 * with a factor.
 *
 * @see OpenID Connect Core section 5.5.1.1
 */
function asksForFactor(
  { request, session }: Interaction,
  { secondFactorAcr, secondFactorAcrValues }: Demanding,
): boolean {
  const { acrValues, claims } = request
  const asked = claims.identityToken.filter(({ name }) => name === 'acr')
  const names: readonly unknown[] = [...acrValues, ...asked.flatMap(({ values = [] }) => values)]
  if (secondFactorAcrValues.some((value) => names.includes(value))) return true
  if (secondFactorAcr === undefined) return false
  const reached = session?.subject.acr ?? ''
  return asked.some(
    ({ essential, values = [] }) => essential && !values.includes(reached) && values.includes(secondFactorAcr),
  )
}

/**
 * Whether the user has a factor, or an app that is being removed. Such a user must sign in with it first: a password
 * alone must not add another factor.
 */
async function hasFactor(sub: string, kit: EndpointKit, { secondFactors, passkeys }: Demanding): Promise<boolean> {
  const [state, keys] = await Promise.all([secondFactors?.state(sub, kit), passkeys?.list(sub, kit) ?? []])
  return state?.app === true || state?.removing === true || keys.length > 0
}

/**
 * Returns the step that lets a user set up a factor before a code is sent, where the operator, the client or the request
 * demands one. A user who has a factor, but has signed in without it, signs in again: another person who knows the
 * password must not set up a second one.
 */
export const demandStep =
  (services: Demanding): NonNullable<AuthorizationFeature['step']> =>
  async (interaction, sub) => {
    const { request, session, kit } = interaction
    const { secondFactors, requireSecondFactor, client, clientDemands } = services
    const isByClient = request.client.requireSecondFactor === true
    if (isByClient) await clientDemands.note(kit)
    const isDemanded = requireSecondFactor || isByClient || asksForFactor(interaction, services)
    // The account page itself demands no factor: users set one up there.
    if (!isDemanded || secondFactors === undefined || request.client.clientId === accountClientId) return undefined
    if (session?.subject.sub === sub && session.subject.amr.includes('mfa')) return undefined
    const hasOne = await hasFactor(sub, kit, services)
    const { id } = await interaction.suspend()
    if (!hasOne) return { location: urlOf(kit, `${otpPaths.setUp}/${id}`) }
    return client.signInAt(kit, { max_age: '0', state: `${resumePath}/${id}` })
  }

/**
 * Whether a session proves the factor that the operator demands. The demand of a client is checked when tokens are
 * issued.
 */
export const provesFactor =
  ({ requireSecondFactor }: Pick<Demanding, 'requireSecondFactor'>): SessionCheck =>
  ({ subject }) =>
    !requireSecondFactor || subject.amr.includes('mfa')

/**
 * Whether the operator, a client or a request can demand a factor, and the user has one that this session has not
 * proved. The session then may not change anything: otherwise, the password alone could add the factor that a request
 * demands.
 */
export async function isUnproved({ session, kit }: Visit, services: AccountServices): Promise<boolean> {
  const { requireSecondFactor, secondFactorAcr, secondFactorAcrValues, secondFactors, clientDemands } = services
  const { sub, amr } = session.subject
  if (amr.includes('mfa')) return false
  const isByRequests =
    secondFactorAcrValues.length > 0 || (secondFactors !== undefined && secondFactorAcr !== undefined)
  if (!requireSecondFactor && !isByRequests && !(await clientDemands.exist(kit))) return false
  return hasFactor(sub, kit, services)
}

/** Whether the operator demands a factor, and this is the last one of the user. */
export async function isLastFactor(
  { session, kit }: Visit,
  { requireSecondFactor, secondFactors, passkeys }: AccountServices,
): Promise<boolean> {
  if (!requireSecondFactor) return false
  const { sub } = session.subject
  const [state, keys] = await Promise.all([secondFactors?.state(sub, kit), passkeys?.list(sub, kit) ?? []])
  return keys.length + (state?.app === true ? 1 : 0) < 2
}

/** Continues with the request that a path names, in the browser that has begun it. */
export async function resumed({ path, request, kit }: Visit, { interactions }: AccountServices): Promise<Reply> {
  const id = path.split('/').at(-1) ?? ''
  const interaction = await interactions.find(kit, request, id)
  return { location: interaction === undefined ? urlOf(kit) : interactions.resumeUrl(kit, id) }
}
