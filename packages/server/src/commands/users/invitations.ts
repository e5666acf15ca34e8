import { inviteUser, withdrawInvitation } from '@grantry/administration'
import type { Invitation, Invitations } from '@grantry/plugins/self-service'
import type { LoadedConfiguration } from '../../configuration/load.ts'
import type { PluginHosts } from '../../configuration/named/plugin-hosts.ts'
import type { CommandAdministration } from '../../opening/open-administration.ts'
import { withProvider } from '../../opening/open-configuration.ts'
import { invitations } from '../../plugin-keys.ts'
import { openAccounts } from '../../provider-options/open-accounts.ts'
import { sanitizeText } from '../../sanitize-text.ts'
import { type CommonArguments, json, runOnEntries } from '../entry-commands.ts'
import { print, table, timeOf } from '../output.ts'
import { claimOf } from './change-users.ts'

interface Opened {
  readonly invitations: Invitations
  readonly audited: CommandAdministration['audited']
}

/** Calls `use` with the invitations of a configuration. */
async function withInvitations<T>(
  loaded: LoadedConfiguration,
  { audited }: CommandAdministration,
  use: (opened: Opened) => Promise<T>,
  accounts?: PluginHosts['accounts'],
): Promise<T> {
  return withProvider(
    loaded,
    async (provider) => {
      if (provider.has(invitations)) return use({ invitations: provider.use(invitations), audited })
      throw new TypeError(
        `${loaded.file}: users do not create accounts by invitation; set accounts.signUp of the plugin sign-in to "invitation"`,
      )
    },
    undefined,
    accounts,
  )
}

const shown = ({ invitedAt, expiresAt, ...invitation }: Invitation) => ({
  ...invitation,
  invitedAt: timeOf(invitedAt),
  expiresAt: timeOf(expiresAt),
})

interface InviteArguments extends CommonArguments {
  readonly name?: string
  readonly claim?: readonly string[]
  readonly locale?: string
}

export async function inviteByMail(email: string, options: InviteArguments): Promise<void> {
  const { name, claim = [], locale } = options
  const invited = await runOnEntries(options, async (administration, loaded) => {
    const { mail } = loaded.configuration
    if (mail === undefined) {
      throw new TypeError(
        `${loaded.file}: an invitation is a mail; set mail, or invite over the admin API of a development server, which shows its mails at /outbox`,
      )
    }
    const accounts = await openAccounts(loaded)
    try {
      const user = { email, name, claims: Object.fromEntries(claim.map(claimOf)), locale }
      return await withInvitations(loaded, administration, (opened) => inviteUser(user, opened), accounts?.host)
    } finally {
      await accounts?.close()
    }
  })
  print(
    options.json ? json(shown(invited)) : `Invited ${email} until ${timeOf(invited.expiresAt)}.\nid  ${invited.id}\n`,
  )
}

export async function listInvitations(options: CommonArguments): Promise<void> {
  const invited = await runOnEntries(options, (administration, loaded) =>
    withInvitations(loaded, administration, ({ invitations: all }) => all.list()),
  )
  const rows = invited.map(shown).map(({ id, email, invitedAt, expiresAt }) => [id, email, invitedAt, expiresAt])
  print(options.json ? json(invited.map(shown)) : table([['ID', 'ADDRESS', 'INVITED', 'EXPIRES'], ...rows]))
}

export async function endInvitation(id: string, options: CommonArguments): Promise<void> {
  await runOnEntries(options, (administration, loaded) =>
    withInvitations(loaded, administration, (opened) => withdrawInvitation(id, opened)),
  )
  print(
    options.json
      ? json({ id, withdrawn: true })
      : `Withdrew the invitation ${sanitizeText(id)}. Its link no longer works.\n`,
  )
}
