import type { EndpointKit } from '@grantry/core'
import type { Session, Sessions } from '../authorization-endpoint/authorization-endpoint.ts'
import type { SessionView } from './account-pages.ts'
import { noteChange } from './changes.ts'
import { deviceName } from './device.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const signOutPath = 'sign-out'

type UsedSession = Awaited<ReturnType<Sessions['listWithUse']>>[number]

const viewOf = ({ sid, device, usedAt }: UsedSession, current: Session, kit: EndpointKit): SessionView => ({
  device: deviceName(device?.userAgent),
  address: device?.address,
  unused: Math.max(0, kit.now() - usedAt),
  isCurrent: sid === current.sid,
  end: urlOf(kit, sid === current.sid ? signOutPath : `sessions/${sid}`),
})

/** Returns the sessions of the user, this one first and then those that were used last. */
export async function sessionViews({ session, kit }: Visit, { sessions }: AccountServices) {
  const all = await sessions.listWithUse(kit, session.subject.sub)
  const sorted = [...all].sort((left, right) => right.usedAt - left.usedAt)
  const current = sorted.filter(({ sid }) => sid === session.sid)
  const others = sorted.filter(({ sid }) => sid !== session.sid)
  return [...current, ...others].map((entry) => viewOf(entry, session, kit))
}

export const endOthersPath = 'sessions/end-others'

const confirmation = async (visit: Visit) => ({
  subjectName: nameIn(visit.session),
  form: { action: urlOf(visit.kit, visit.path), fields: { form_token: await formTokenFor(visit) } },
  back: urlOf(visit.kit),
})

/** Returns the other session of the user that a path names. */
async function namedSession({ session, path, kit }: Visit, { sessions }: AccountServices) {
  const sid = path.slice('sessions/'.length)
  const all = await sessions.listWithUse(kit, session.subject.sub)
  return all.find((entry) => entry.sid === sid && sid !== session.sid)
}

export const endSession: ChangePage = {
  async show(visit, services) {
    const named = await namedSession(visit, services)
    if (named === undefined) return undefined
    const view = {
      ...(await confirmation(visit)),
      change: 'end_session',
      session: viewOf(named, visit.session, visit.kit),
    }
    return services.pages.confirm({ ...view, change: 'end_session' }, visit.locale)
  },
  async submit(_fields, visit, services) {
    // Finds sessions of this user only, because an id is no secret.
    const named = await namedSession(visit, services)
    if (named === undefined) return 'gone'
    await services.sessions.end(visit.kit, named.sid)
    await noteChange('session_ended', visit, services)
    return 'session_ended'
  },
}

/** Ends the session of this browser. It changes nothing of the account: neither a mail nor a new sign-in is needed. */
export const signOut: ChangePage = {
  isFree: true,
  async show(visit, { sessions, pages }) {
    const { session, kit } = visit
    const all = await sessions.listWithUse(kit, session.subject.sub)
    const current = all.find(({ sid }) => sid === session.sid)
    if (current === undefined) return undefined
    const view = { ...(await confirmation(visit)), session: viewOf(current, session, kit) }
    return pages.confirm({ ...view, change: 'end_session' }, visit.locale)
  },
  async submit(_fields, { session, kit, locale }, { sessions, pages }) {
    await sessions.end(kit, session.sid)
    return { ...pages.signedOut({ again: urlOf(kit) }, locale), cookies: [sessions.clearCookie(kit)] }
  },
}

export const endOtherSessions: ChangePage = {
  show: async (visit, { pages }) =>
    pages.confirm({ ...(await confirmation(visit)), change: 'end_other_sessions' }, visit.locale),
  async submit(_fields, visit, services) {
    const { session, kit } = visit
    const { sessions } = services
    const all = await sessions.listWithUse(kit, session.subject.sub)
    await Promise.all(all.filter(({ sid }) => sid !== session.sid).map(({ sid }) => sessions.end(kit, sid)))
    await noteChange('sessions_ended', visit, services)
    return 'sessions_ended'
  },
}
