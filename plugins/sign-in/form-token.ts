import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { clockSkew } from '../shared/jwt-claims.ts'

export type Step = 'sign_in' | 'second_factor' | 'consent' | 'choose_account'

const schema = v.object({ step: v.string(), id: v.string(), browser: v.string(), sid: v.string() })

type Owner = Pick<SuspendedInteraction, 'id' | 'browser' | 'session' | 'kit' | 'expiresAt'>

/**
 * The session that a form belongs to. The forms of a sign-in belong to none: the user can have signed in in another tab
 * since, and proves again who it is.
 */
const sidOf = ({ session }: Owner, step: Step): string =>
  step === 'sign_in' || step === 'second_factor' ? '' : (session?.sid ?? '')

/**
 * Returns a token that permits one form of one browser. It names the session, so that a decision cannot be sent for
 * another user than the one it was shown to.
 */
export const formTokenFor = (owner: Owner, step: Step): Promise<string> =>
  owner.kit.seal({ step, id: owner.id, browser: owner.browser, sid: sidOf(owner, step) }, owner.expiresAt)

/** Whether a form belongs to this step, browser and session. */
export async function permits(owner: Owner, step: Step, formToken: string): Promise<boolean> {
  const token = await owner.kit.unseal(formToken, schema)
  return (
    token !== undefined &&
    token.step === step &&
    token.id === owner.id &&
    token.sid === sidOf(owner, step) &&
    owner.kit.equals(token.browser, owner.browser)
  )
}

/** The challenge for a passkey: the form token is random, and belongs to one page of one browser. */
export const challengeOf = (formToken: string, { sha256 }: Pick<Kit, 'sha256'>): string => sha256(formToken)

/**
 * Uses a challenge whose response was valid. `false` if it was used before: WebAuthn Level 3 section 13.4.3 requires that
 * a challenge is accepted once, also by another process.
 */
export const spendChallenge = (challenge: string, { kit, expiresAt }: Pick<Owner, 'kit' | 'expiresAt'>) =>
  // As long as the form token is valid, on all clocks.
  kit.records.insert(`used challenge:${challenge}`, true, expiresAt + clockSkew)
