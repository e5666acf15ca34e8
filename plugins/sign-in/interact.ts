import type { Reply } from '@grantry/core'
import type { Decision, Interaction, RefusedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { Consents } from './consents.ts'
import type { SignInPages } from './pages.ts'
import { accountPage, consentPage, signInPage } from './views.ts'

/** Whether the user must be asked, although the session suffices. */
async function needsConsent({ request, kit }: Interaction, sub: string, consents: Consents): Promise<boolean> {
  if (request.client.requireConsent === false) return false
  return request.prompts.has('consent') || !(await consents.covers(kit, sub, request))
}

/** Shows the next page of a sign-in, or decides. */
export async function interact(
  interaction: Interaction,
  { pages, consents }: { readonly pages: SignInPages; readonly consents: Consents },
): Promise<Decision | RefusedInteraction | Reply> {
  const { request, session, mustSignIn, progress } = interaction
  const isSilent = request.prompts.has('none')
  const suspended = async () => ({ ...interaction, ...(await interaction.suspend()) })
  if (session === undefined || mustSignIn) return signInPage(await suspended(), pages)
  const { sid, subject, name = subject.sub } = session
  if (request.prompts.has('select_account') && progress.chosen !== sid) {
    return accountPage(await suspended(), { id: sid, name }, pages)
  }
  if (!(await needsConsent(interaction, subject.sub, consents))) return { scopes: request.scopes }
  return isSilent ? { refuse: 'consent_required' } : consentPage(await suspended(), name, pages)
}
