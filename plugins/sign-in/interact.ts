import type { Reply } from '@grantry/core'
import type {
  CheckedRequest,
  Decision,
  Interaction,
  RefusedInteraction,
} from '../authorization-endpoint/authorization-endpoint.ts'
import type { Consents } from './consents.ts'
import { accountPage, consentPage, type SignInPageServices, signInPage } from './views.ts'

/**
 * Whether another application could have sent the request: without a secret, only the host of an `https` redirect URI
 * proves which one receives the code. Any application of the device can use a private-use scheme or a port.
 *
 * @see RFC 6749 section 10.2; RFC 8252 section 8.6
 */
const isImpersonable = ({ client, redirectUri }: CheckedRequest): boolean =>
  client.public && !/^https:/iu.test(redirectUri)

/** Whether the user must be asked, although the session suffices. */
async function needsConsent({ request, kit }: Interaction, sub: string, consents: Consents): Promise<boolean> {
  if (request.client.requireConsent === false) return false
  if (request.prompts.has('consent') || isImpersonable(request)) return true
  return !(await consents.covers(kit, sub, request))
}

/** Shows the next page of a sign-in, or decides. */
export async function interact(
  interaction: Interaction,
  services: SignInPageServices & { readonly consents: Consents },
): Promise<Decision | RefusedInteraction | Reply> {
  const { pages, consents } = services
  const { request, session, mustSignIn, progress } = interaction
  const isSilent = request.prompts.has('none')
  const suspended = async () => ({ ...interaction, ...(await interaction.suspend()) })
  if (session === undefined || mustSignIn) return signInPage(await suspended(), services)
  const { sid, subject, name = subject.sub } = session
  if (request.prompts.has('select_account') && progress.chosen !== sid) {
    return accountPage(await suspended(), { id: sid, name }, pages)
  }
  if (!(await needsConsent(interaction, subject.sub, consents))) return { scopes: request.scopes }
  return isSilent ? { refuse: 'consent_required' } : consentPage(await suspended(), name, pages)
}
