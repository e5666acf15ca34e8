import { resetSecondFactors } from '@grantry/administration'
import { secondFactors } from '@grantry/plugins/sign-in'
import { revokeAndSignOut } from '../../administration/revoke-and-sign-out.ts'
import { withProvider } from '../configuration.ts'
import { type CommonArguments, json, print, runOnEntries } from '../entry-commands.ts'
import { subjectOf } from './find-subject.ts'

/** Calls the functions of the configuration that remove second factors and passkeys. */
export async function resetFactors(subOrName: string, given: CommonArguments): Promise<void> {
  const sub = await runOnEntries(given, async (administration, loaded) => {
    const subject = await subjectOf(subOrName, administration, loaded)
    await withProvider(loaded, (provider) =>
      resetSecondFactors(subject, {
        secondFactors: provider.has(secondFactors) ? provider.use(secondFactors) : undefined,
        revoke: (target) => revokeAndSignOut(target, provider),
        audited: administration.audited,
      }),
    )
    return subject
  })
  const sentence = `Removed the second factors and passkeys of the user ${subOrName}, ended all sessions, and revoked all tokens.`
  print(given.json ? json({ sub, reset: true }) : `${sentence}\n`)
}
