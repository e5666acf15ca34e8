import { isOAuthError, type Reply, type Subject } from '@grantry/core'
import { requestedTenant, type SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import { trimUnseen } from '../shared/unseen.ts'
import { beginSession, standingAtProof } from './begin-session.ts'
import type { FormFields, FormServices } from './form-services.ts'
import { askForSecondFactor, hasSecondFactor } from './second-factor.ts'
import type { SignInProblem } from './sign-in-pages.ts'
import { signInPage } from './views.ts'
import { linkByAddress } from './ways.ts'

/** Refusals that the page explains. Any other is a defect or belongs to the client. */
const problems: Readonly<Record<string, SignInProblem>> = {
  slow_down: 'too_many_attempts',
  temporarily_unavailable: 'unavailable',
}

/** Checks a user name and password, with the limits of the core. Begins a session, unless the user has a second factor. */
export async function attemptSignIn(
  { username, password, decision, stay_signed_in }: FormFields,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  const { request, http, kit } = interaction
  const { acr } = services
  const staySignedIn = stay_signed_in !== ''
  // Checked before the password, which belongs to another provider.
  const way = linkByAddress(interaction, services)?.(username)
  if (way !== undefined) return { location: way.url }
  if (decision === 'organization') {
    return signInPage(interaction, services, { problem: 'unknown_organization', username, staySignedIn })
  }
  if (!services.passwords) return signInPage(interaction, services, { problem: 'wrong_credentials' })
  const { clientAddress } = http
  const { client } = request
  const { readState, standingFor } = standingAtProof(kit)
  let needsFactor = false
  const needsSecondFactor = async (sub: string): Promise<boolean> => {
    needsFactor = await hasSecondFactor(sub, kit, services.secondFactors)
    return needsFactor
  }
  const tenant = requestedTenant(request.acrValues)
  let subject: Subject | undefined
  try {
    const context = { clientAddress, client, readState, needsSecondFactor }
    subject = await kit.authenticateUser({ username, password, ...(tenant !== undefined && { tenant }) }, context)
  } catch (error) {
    const problem = isOAuthError(error) ? problems[error.code] : undefined
    if (problem === undefined || !isOAuthError(error)) throw error
    const { retryAfter } = error.details
    return { ...(await signInPage(interaction, services, { problem, retryAfter, username, staySignedIn })), error }
  }
  if (subject === undefined) {
    return signInPage(interaction, services, { problem: 'wrong_credentials', username, staySignedIn })
  }
  const user = {
    subject: { ...(acr !== undefined && { acr }), ...subject },
    // Pages show the name, and an authenticator app keeps it.
    name: trimUnseen(username) || username,
    staySignedIn,
    needsSecondFactor: needsFactor,
    standing: await standingFor(subject.sub),
  }
  return (await askForSecondFactor(user, interaction, services)) ?? beginSession(user, interaction, services)
}
