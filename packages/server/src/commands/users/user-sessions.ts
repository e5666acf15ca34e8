import { refused } from '@grantry/administration'
import type { HostKey, Provider } from '@grantry/core'
import type { Session, UserSessions } from '@grantry/plugins/authorization-endpoint'
import type { LoadedConfiguration } from '../../configuration/load.ts'
import { counted } from '../../counted.ts'
import type { CommandAdministration } from '../../opening/open-administration.ts'
import { userAuthorizations, userConsents, userSessions } from '../../plugin-keys.ts'
import { sanitizeText } from '../../sanitize-text.ts'
import { type CommonArguments, json } from '../entry-commands.ts'
import { print, table, timeOf } from '../output.ts'
import { runOnKnownUser, shownUser } from './find-subject.ts'

interface Target<F> {
  readonly sub: string
  /** The `sub`, with the name. */
  readonly shown: string
  readonly functions: F
  readonly provider: Provider
  readonly audited: CommandAdministration['audited']
}

/** Runs an action with functions of a plugin for a user. */
const runWithPlugin = <F extends object, T>(
  key: HostKey<F>,
  subOrName: string,
  options: CommonArguments,
  act: (target: Target<F>) => Promise<T>,
): Promise<T> =>
  runOnKnownUser(subOrName, options, async ({ user, provider, administration, loaded }) => {
    assertOffered(provider, key, loaded)
    const { audited } = administration
    return act({ sub: user.sub, shown: shownUser(user), functions: provider.use(key), provider, audited })
  })

function assertOffered(provider: Provider, key: HostKey, { file }: LoadedConfiguration): void {
  if (provider.has(key)) return
  throw new TypeError(
    `${file}: no plugin signs users in, so there are no sessions, consents and authorizations; add { "name": "sign-in" } to plugins`,
  )
}

const shownSession = ({ sid, subject, startedAt, expiresAt }: Session) => ({
  sid,
  startedAt: timeOf(startedAt),
  expiresAt: timeOf(expiresAt),
  amr: subject.amr,
})

export async function listSessions(subOrName: string, options: CommonArguments): Promise<void> {
  const sessions = await runWithPlugin(userSessions, subOrName, options, async ({ sub, functions }) =>
    (await functions.list(sub)).map(shownSession),
  )
  const rows = sessions.map(({ sid, startedAt, expiresAt, amr }) => [sid, startedAt, expiresAt, amr.join(' ')])
  print(options.json ? json(sessions) : table([['SID', 'STARTED', 'EXPIRES', 'AMR'], ...rows]))
}

/** Ends one session of the user. A session of another user is not touched. */
async function endOne({ sub, shown, functions, audited }: Target<UserSessions>, sid: string): Promise<number> {
  const sessions = await functions.list(sub)
  if (!sessions.some((session) => session.sid === sid))
    throw refused('not_found', `the user ${shown} has no session ${sid}; see grantry users sessions list`)
  await audited({ action: 'user_session_ended', id: sub, before: { sid } }, () => functions.end(sid))
  return 1
}

export async function endSessions(subOrName: string, sid: string | undefined, options: CommonArguments): Promise<void> {
  const { shown, ended } = await runWithPlugin(userSessions, subOrName, options, async (target) => {
    const { sub, functions, audited } = target
    const endAll = () => audited({ action: 'user_sessions_ended', id: sub }, () => functions.endAll(sub))
    return { shown: target.shown, ended: await (sid === undefined ? endAll() : endOne(target, sid)) }
  })
  print(
    options.json
      ? json({ ended })
      : `Ended ${counted(ended, 'session')} of the user ${shown}. Tokens stay valid: see grantry revoke.\n`,
  )
}

export async function listConsents(subOrName: string, options: CommonArguments): Promise<void> {
  const consents = await runWithPlugin(userConsents, subOrName, options, ({ sub, functions }) => functions.list(sub))
  const rows = consents.map(({ clientId, scopes, claims }) => [clientId, scopes.join(' '), claims.join(' ') || '-'])
  print(options.json ? json(consents) : table([['CLIENT', 'SCOPES', 'CLAIMS'], ...rows]))
}

export async function revokeConsent(subOrName: string, clientId: string, options: CommonArguments): Promise<void> {
  const shown = await runWithPlugin(userConsents, subOrName, options, async (target) => {
    const { sub, functions, audited } = target
    const consent = (await functions.list(sub)).find((listed) => listed.clientId === clientId)
    const before = { clientId, ...(consent !== undefined && { scopes: consent.scopes }) }
    await audited({ action: 'user_consent_revoked', id: sub, before }, async () => {
      if (await functions.revoke(sub, clientId)) return
      throw refused(
        'not_found',
        `the user ${target.shown} has not consented to the client ${clientId}; see grantry users consents list`,
      )
    })
    return target.shown
  })
  const sentence = `Revoked the consent of the user ${shown} to the client ${clientId}. The client asks again at its next request; its tokens stay valid: see grantry revoke.`
  print(options.json ? json({ clientId, revoked: true }) : `${sanitizeText(sentence)}\n`)
}

export async function listAuthorizations(subOrName: string, options: CommonArguments): Promise<void> {
  const authorizations = await runWithPlugin(userAuthorizations, subOrName, options, async ({ sub, functions }) =>
    (await functions.list(sub)).map(({ startedAt, expiresAt, ...authorization }) => ({
      ...authorization,
      startedAt: timeOf(startedAt),
      expiresAt: timeOf(expiresAt),
    })),
  )
  const rows = authorizations.map(({ family, clientId, startedAt, scopes, audiences }) => [
    family,
    clientId,
    startedAt,
    scopes.join(' '),
    audiences.join(' ') || '-',
  ])
  print(options.json ? json(authorizations) : table([['FAMILY', 'CLIENT', 'STARTED', 'SCOPES', 'FOR'], ...rows]))
}

/** Ends one authorization of the user. An authorization of another user is not touched. */
export async function endAuthorization(subOrName: string, family: string, options: CommonArguments): Promise<void> {
  const shown = await runWithPlugin(userAuthorizations, subOrName, options, async (target) => {
    const { sub, functions, provider, audited } = target
    const authorization = (await functions.list(sub)).find((listed) => listed.family === family)
    if (authorization === undefined)
      throw refused(
        'not_found',
        `the user ${target.shown} has no authorization ${family}; see grantry users authorizations list`,
      )
    const before = { family, clientId: authorization.clientId }
    await audited({ action: 'user_authorization_ended', id: sub, before }, () => provider.revoke({ family }))
    return target.shown
  })
  const sentence = `Ended the authorization ${family} of the user ${shown}: its refresh token and its access tokens. Others of the same client stay valid.`
  print(options.json ? json({ family, ended: true }) : `${sanitizeText(sentence)}\n`)
}
