import type { Reply } from '@grantry/core'
import type { SuspendedInteraction } from '../authorization-endpoint/authorization-endpoint.ts'
import type { PasskeyResponse } from '../shared/passkey-check.ts'
import { isPasskeyOfIssuer } from '../shared/passkey-user.ts'
import { beginSession, standingAtProof } from './begin-session.ts'
import type { FormFields, FormServices } from './form-services.ts'
import { challengeOf, spendChallenge } from './form-token.ts'
import { signInPage } from './views.ts'

/** Checks the response of a passkey, and begins a session. The device has verified the user, so no second factor follows. */
export async function attemptPasskey(
  { credential, form_token, stay_signed_in }: FormFields,
  interaction: SuspendedInteraction,
  services: FormServices,
): Promise<Reply> {
  const { kit } = interaction
  const staySignedIn = stay_signed_in !== ''
  const { passkeys, acr, secondFactorAcr = acr } = services
  const challenge = challengeOf(form_token, kit)
  const { readState, standingFor } = standingAtProof(kit)
  let unknown: string | undefined
  const response: PasskeyResponse = {
    credential,
    challenge,
    origin: new URL(kit.issuer).origin,
    readState,
    // Does not report a passkey of another issuer with the same domain. During a session, the passkey may be new: its
    // form waits until the user has signed in again.
    onUnknown({ id, userHandle }) {
      if (interaction.session === undefined && isPasskeyOfIssuer(userHandle, kit)) unknown = id
    },
  }
  const verify = async () => passkeys?.verify(response, kit)
  const user = await (passkeys?.limitsHostCalls === true ? verify() : kit.callHost('passkeys.verify', verify))
  const context = { sub: user?.sub, client: interaction.request.client, clientAddress: interaction.http.clientAddress }
  if (user === undefined || !(await spendChallenge(challenge, interaction))) {
    const reason = user === undefined ? 'response_invalid' : 'response_replayed'
    kit.recordUser({ type: 'passkey_authentication_failed', reason }, context)
    return signInPage(interaction, services, { problem: 'unknown_passkey', staySignedIn, unknownPasskey: unknown })
  }
  kit.recordUser({ type: 'passkey_authentication_succeeded' }, context)
  // RFC 8176: possession of a key, and the PIN or fingerprint that unlocks it.
  const subject = {
    sub: user.sub,
    amr: ['pop', 'mfa'],
    ...(secondFactorAcr !== undefined && { acr: secondFactorAcr }),
  }
  const names = await Promise.all(services.ways.map((way) => way.nameOf?.(user.sub, kit)))
  const name = names.find((text) => text !== undefined) ?? user.name ?? user.sub
  const signedIn = { subject, name, staySignedIn, standing: await standingFor(user.sub) }
  return beginSession(signedIn, interaction, services)
}
