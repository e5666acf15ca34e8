import { type ResetResult, resetSecondFactors } from '@grantry/administration'
import { secondFactors } from '@grantry/plugins/sign-in'
import { revokeAndSignOut } from '../../administration/revoke-and-sign-out.ts'
import { counted } from '../../counted.ts'
import { type CommonArguments, json, print } from '../entry-commands.ts'
import { runOnKnownUser, shownUser } from './find-subject.ts'

const nouns = { apps: 'app', passkeys: 'passkey', recoveryCodes: 'recovery code', sessions: 'session' } as const

/** Such as `1 app, 2 passkeys`; a factor of the configuration may not count. */
function removedText({ removed }: ResetResult): string {
  const parts = Object.entries(removed).map(([kind, count]) => counted(count, nouns[kind as keyof typeof nouns]))
  return parts.length === 0 ? 'what the functions of the configuration remove, which is not counted' : parts.join(', ')
}

/** Calls the functions of the configuration that remove second factors and passkeys. */
export async function resetFactors(subOrName: string, given: CommonArguments): Promise<void> {
  const { user, done } = await runOnKnownUser(subOrName, given, async ({ user, provider, administration }) => {
    const done = await resetSecondFactors(user.sub, {
      secondFactors: provider.has(secondFactors) ? provider.use(secondFactors) : undefined,
      revoke: (target) => revokeAndSignOut(target, provider),
      audited: administration.audited,
    })
    return { user, done }
  })
  const ended = counted(done.endedSessions, nouns.sessions)
  const sentence = `Removed of the user ${shownUser(user)}: ${removedText(done)}. Ended ${ended}, and revoked all tokens.`
  print(given.json ? json({ sub: user.sub, reset: true, ...done }) : `${sentence}\n`)
}
