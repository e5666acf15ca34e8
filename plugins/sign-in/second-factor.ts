import { type EndpointKit, isOAuthError, type Reply, type Subject } from '@grantry/core'
import * as v from 'valibot'
import {
  isOutdated,
  type Standing,
  type SuspendedInteraction,
  standingEntries,
  standingIn,
  standingOf,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { type CountedCode, countCode } from '../shared/code-limits.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import { typedCode } from '../shared/typed-code.ts'
import { beginProved } from './begin-session.ts'
import type { FormFields, FormServices } from './form-services.ts'
import { secondFactorPage, signInPage } from './views.ts'
import type { PendingStep } from './ways.ts'

/** A user whose password was right. */
const passedSchema = v.object({
  id: v.string(),
  browser: v.string(),
  name: v.string(),
  sub: v.string(),
  amr: v.array(v.string()),
  idp: v.exactOptional(v.string()),
  acr: v.exactOptional(v.string()),
  /** When the user service authenticated the user, if it has stated the time. */
  authTime: v.exactOptional(v.number()),
  /** Whether the user has asked to stay signed in, on the page with the password. */
  stays: v.exactOptional(v.boolean()),
  /** The step that a way to sign in performs after the right code. */
  pending: v.exactOptional(v.object({ way: v.string(), data: v.string() })),
  ...standingEntries,
})
type Passed = v.InferOutput<typeof passedSchema>

/** A user whose password was right, and the state of the user at that moment. */
interface PasswordUser {
  readonly subject: Subject
  /** `false`: `authTime` proves nothing. */
  readonly provesTime?: boolean | undefined
  readonly name: string
  readonly standing: Standing
  readonly needsSecondFactor: boolean
  readonly staySignedIn: boolean
  readonly pending?: PendingStep | undefined
}

/** Whether the user has set up a factor. */
export const hasSecondFactor = async (sub: string, kit: EndpointKit, factors: readonly SecondFactor[]) =>
  (await setUpFactors(sub, kit, factors)).length > 0

/** Seconds that a user can take to find the code. */
const lifetime = 600

/** Seconds of a delay that the page shows. */
const maxShownWait = 3600

/** A factor of the host is a function of the host. */
const callFactor = async (
  { limitsHostCalls }: SecondFactor,
  name: 'isSetUp' | 'verify',
  kit: EndpointKit,
  call: () => boolean | Promise<boolean>,
): Promise<boolean> => (limitsHostCalls === true ? call() : kit.callHost(`secondFactors.${name}`, call))

async function setUpFactors(
  sub: string,
  kit: EndpointKit,
  factors: readonly SecondFactor[],
): Promise<readonly SecondFactor[]> {
  const isSetUp = await Promise.all(
    factors.map((factor) => callFactor(factor, 'isSetUp', kit, () => factor.isSetUp(sub, kit))),
  )
  return factors.filter((_, index) => isSetUp[index])
}

async function show(
  interaction: SuspendedInteraction,
  passed: Passed,
  { pages }: FormServices,
  state: Parameters<typeof secondFactorPage>[3] = {},
): Promise<Reply> {
  const { kit, expiresAt } = interaction
  const sealed = await kit.seal(passed, Math.min(expiresAt, kit.now() + lifetime))
  return secondFactorPage(interaction, { subjectName: passed.name, passed: sealed }, pages, state)
}

/** Returns the page for the code of a user whose password was right; `undefined` if the user needs none. */
export async function askForSecondFactor(
  { subject: { sub, amr, idp, acr, ...subject }, provesTime = true, name, standing, ...user }: PasswordUser,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply | undefined> {
  const { id, browser } = interaction
  if (!user.needsSecondFactor) return undefined
  // Without a known time, the time of the code counts.
  const authTime = provesTime ? subject.authTime : undefined
  const more = {
    ...(idp !== undefined && { idp }),
    ...(acr !== undefined && { acr }),
    ...(authTime !== undefined && { authTime }),
    ...(user.staySignedIn && { stays: true }),
    ...(user.pending !== undefined && { pending: user.pending }),
  }
  return show(interaction, { id, browser, name, sub, amr: [...amr], ...more, ...standingIn(standing) }, services)
}

/** Returns the factor that the code belongs to. */
async function factorOf(code: string, sub: string, kit: EndpointKit, factors: readonly SecondFactor[]) {
  for (const factor of await setUpFactors(sub, kit, factors)) {
    if (await callFactor(factor, 'verify', kit, () => factor.verify(sub, code, kit))) return factor
  }
  return undefined
}

/** Checks the code, and begins a session. */
export async function attemptSecondFactor(
  { passed: sealed, code }: FormFields,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  const { kit, id, browser } = interaction
  const passed = await kit.unseal(sealed, passedSchema)
  if (passed === undefined || passed.id !== id || !kit.equals(passed.browser, browser)) {
    return signInPage(interaction, services, { problem: 'form_expired' })
  }
  const { sub, name, amr, idp, acr, authTime } = passed
  // Comes before the check of the code: an expired proof of the password must not reveal whether a code is right.
  const context = { sub, client: interaction.request.client, clientAddress: interaction.http.clientAddress }
  const fail = (reason: string): void => kit.recordUser({ type: 'second_factor_failed', reason }, context)
  if (isOutdated(passed, await standingOf(kit, sub))) {
    fail('proof_outdated')
    return signInPage(interaction, services, { problem: 'form_expired' })
  }
  let counted: CountedCode
  try {
    counted = await countCode('second factor', sub, passed, interaction.http.clientAddress, kit)
  } catch (error) {
    if (!isOAuthError(error) || error.code !== 'slow_down') throw error
    const { retryAfter = 0, reason } = error.details
    fail(reason)
    // A number of seconds is of no use to a user who has to wait for days.
    const state = { problem: 'too_many_attempts', ...(retryAfter <= maxShownWait && { retryAfter }) } as const
    return { ...(await show(interaction, passed, services, state)), error }
  }
  const factor = await factorOf(typedCode(code), sub, kit, services.secondFactors)
  if (factor === undefined) {
    fail('wrong_code')
    return show(interaction, passed, services, { problem: 'wrong_code' })
  }
  kit.recordUser({ type: 'second_factor_succeeded', method: factor.amr }, context)
  await counted.succeed()
  const subject = {
    sub,
    amr: [...new Set([...amr, factor.amr, 'mfa'])],
    ...(idp !== undefined && { idp }),
    ...(authTime !== undefined && { authTime }),
    ...((services.secondFactorAcr ?? acr) !== undefined && { acr: services.secondFactorAcr ?? acr }),
  }
  const user = { subject, name, standing: standingIn(passed), staySignedIn: passed.stays }
  return beginProved(user, passed.pending, interaction, services)
}
