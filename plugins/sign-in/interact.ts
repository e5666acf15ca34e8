import type { Reply } from '@grantry/core'
import type {
  Interaction,
  RefusedInteraction,
  UnaskedDecision,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { accountPage, consentPage, type SignInPageServices, signInPage } from './views.ts'
import { wayWithoutPage } from './ways.ts'

/** Shows the next page of a sign-in, or decides. */
export async function interact(
  interaction: Interaction,
  services: SignInPageServices,
): Promise<UnaskedDecision | RefusedInteraction | Reply> {
  const { pages } = services
  const { request, session, mustSignIn, progress } = interaction
  const isSilent = request.prompts.has('none')
  const suspended = async () => ({ ...interaction, ...(await interaction.suspend()) })
  const isElsewhere = session !== undefined && services.ways.some((way) => way.suffices?.(interaction) === false)
  if (isElsewhere && isSilent) return { refuse: 'login_required' }
  if (session === undefined || mustSignIn || isElsewhere) {
    const waiting = await suspended()
    // A user who has signed in, and does not suffice, sees the page: the same way would lead back here forever.
    const way = progress.signedIn === undefined ? wayWithoutPage(waiting, services) : undefined
    return way === undefined ? signInPage(waiting, services) : { location: way.url }
  }
  const { sid, subject, name = subject.sub } = session
  if (request.prompts.has('select_account') && progress.chosen !== sid) {
    return accountPage(await suspended(), { id: sid, name }, pages)
  }
  const consented = await interaction.recallConsent()
  if (consented !== undefined) return consented
  return isSilent ? { refuse: 'consent_required' } : consentPage(await suspended(), pages)
}
