import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'

export type Step = 'sign_in' | 'second_factor' | 'consent' | 'choose_account'

const text = v.string()
const schema = v.object({ step: text, id: text, browser: text, sid: text, shown: v.array(text) })

/** The length in characters of the hash of a shown scope (96 bits): names of scopes can have 300 characters. */
const shownLength = 16

type Owner = Pick<SuspendedInteraction, 'id' | 'browser' | 'session' | 'kit' | 'expiresAt' | 'request'>

/**
 * The session that a form belongs to. The forms of a sign-in belong to none: the user may have signed in in another tab
 * since, and authenticates again.
 */
const sidOf = ({ session }: Owner, step: Step): string =>
  step === 'sign_in' || step === 'second_factor' ? '' : (session?.sid ?? '')

/**
 * Returns the hashes of the scopes, with their APIs, that the page of a consent shows. The configuration can change
 * before the form arrives.
 */
function shownBy({ request: { scopes, proposal }, kit }: Owner, step: Step): readonly string[] {
  if (step !== 'consent') return []
  const uses = proposal.resources.flatMap((resource) => resource.scopes.map((name) => `${name} ${resource.audience}`))
  return [...scopes, ...uses].map((text) => kit.sha256(text).slice(0, shownLength))
}

/**
 * Returns a token that permits one form of one browser. The token contains the session, so that a decision cannot be
 * sent for a user to whom the page was not shown, and the content of the page.
 */
export const formTokenFor = (owner: Owner, step: Step): Promise<string> =>
  owner.kit.seal(
    { step, id: owner.id, browser: owner.browser, sid: sidOf(owner, step), shown: [...shownBy(owner, step)] },
    owner.expiresAt,
  )

/** Whether a form belongs to this step, browser and session. */
export async function permits(owner: Owner, step: Step, formToken: string): Promise<boolean> {
  const token = await owner.kit.unseal(formToken, schema)
  return (
    token !== undefined &&
    token.step === step &&
    token.id === owner.id &&
    token.sid === sidOf(owner, step) &&
    shownBy(owner, step).every((hash) => token.shown.includes(hash)) &&
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
  kit.records.insert(`used challenge:${challenge}`, true, expiresAt + clockSkew, keptRecord)
