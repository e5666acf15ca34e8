import type { Reply } from '@grantry/core'
import * as v from 'valibot'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { noteChange } from './changes.ts'
import { isLastFactor, resumed } from './demand.ts'
import { keptLifetime } from './kept-form.ts'
import { otpPaths } from './paths.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formLifetime, formOf, formTokenFor, nameIn, serviceOf, urlOf, type Visit } from './visit.ts'

/** The secret that the user has scanned, until a code confirms it. It is in the form, sealed. */
const pendingSchema = v.object({ pendingSecret: v.string(), sub: v.string(), id: v.string() })

/** Seconds in which the user must confirm. A form that was kept is confirmed later than another one. */
const pendingLifetime = formLifetime + 2 * keptLifetime

/** Returns the state for the overview. */
export async function factorsView({ session, kit }: Visit, { secondFactors }: AccountServices) {
  if (secondFactors === undefined) return undefined
  const state = await secondFactors.state(session.subject.sub, kit)
  return {
    ...state,
    setUp: urlOf(kit, otpPaths.setUp),
    remove: urlOf(kit, otpPaths.remove),
    newCodes: urlOf(kit, otpPaths.codes),
  }
}

async function setUpPage(
  visit: Visit,
  { secondFactors, pages }: AccountServices,
  known?: { readonly secret: string; readonly pending: string },
): Promise<Reply | undefined> {
  const { session, kit, locale, path } = visit
  const { sub } = session.subject
  if (secondFactors === undefined || (await secondFactors.state(sub, kit)).app) return undefined
  const secret = known?.secret ?? secondFactors.newSecret()
  const value = { pendingSecret: secret, sub, id: kit.randomId() }
  const [form_token, pending] = await Promise.all([
    formTokenFor(visit),
    known?.pending ?? kit.seal(value, kit.now() + pendingLifetime),
  ])
  const view = {
    subjectName: nameIn(session),
    form: { action: urlOf(kit, path), fields: { form_token, pending } },
    back: urlOf(kit),
    secret,
    uri: secondFactors.uriOf(secret, serviceOf(kit), nameIn(session)),
    problem: known === undefined ? undefined : ('wrong_code' as const),
  }
  return pages.setUpApp(view, locale)
}

/** Shows new recovery codes, once. */
async function codesPage(visit: Visit, { secondFactors, pages }: AccountServices, next?: string): Promise<Reply> {
  const { session, kit, locale } = visit
  const codes = (await secondFactors?.newCodes(session.subject.sub, kit)) ?? []
  return pages.recoveryCodes({ subjectName: nameIn(session), codes, next: next ?? urlOf(kit) }, locale)
}

/**
 * Ends the other sessions of a user with a new app, because they have begun with the password alone. Also called
 * before the app takes effect, so that none is left if this process dies.
 */
async function endUnproved({ session, kit }: Visit, { sessions }: AccountServices): Promise<void> {
  const others = (await sessions.listWithUse(kit, session.subject.sub)).filter(({ sid }) => sid !== session.sid)
  await Promise.all(others.map(({ sid }) => sessions.end(kit, sid)))
}

export const setUpApp: ChangePage = {
  keeps: 'app',
  async show(visit, services) {
    const page = await setUpPage(visit, services)
    // The user has set up the app in another tab, and continues the request here.
    return page ?? (visit.path === otpPaths.setUp ? undefined : resumed(visit, services))
  },
  async submit({ pending = '', code = '' }, visit, services) {
    const { session, kit } = visit
    const { secondFactors } = services
    const { sub } = session.subject
    const opened = await kit.unseal(pending, pendingSchema)
    if (secondFactors === undefined || opened?.sub !== sub) return 'form_expired'
    const { pendingSecret: secret, id } = opened
    const used = `used secret:${id}`
    // The secret of this page can be used once, even after the app was removed. Comes first, so that the secret stays
    // used if the process dies.
    const isFirst = await kit.records.insert(used, true, kit.now() + pendingLifetime + clockSkew, keptRecord)
    if (!isFirst) return 'form_expired'
    const beforeStored = () => endUnproved(visit, services)
    const result = await secondFactors.confirm({ sub, secret, code: code.replaceAll(/\s/gu, ''), beforeStored }, kit)
    if (result === 'known') return 'gone'
    if (result === 'wrong_code') {
      await kit.records.delete(used)
      return (await setUpPage(visit, services, { secret, pending })) ?? 'gone'
    }
    // The sessions that have begun in between.
    await endUnproved(visit, services)
    await noteChange('app_added', visit, services)
    // The user has just proved the app in this session.
    const { amr, acr, ...subject } = session.subject
    const { secondFactorAcr = acr } = services
    const proved = {
      ...subject,
      amr: [...new Set([...amr, 'otp', 'mfa'])],
      ...(secondFactorAcr !== undefined && { acr: secondFactorAcr }),
    }
    const user = { subject: proved, name: session.name, standing: session.standing }
    const next = visit.path === otpPaths.setUp ? undefined : (await resumed(visit, services)).location
    // Comes first, because afterwards the cookie of this request no longer proves the session.
    const page = await codesPage(visit, services, next)
    const { cookies } = await services.sessions.start(kit, user, visit.request)
    return { ...page, cookies }
  },
}

const hasApp = async ({ session, kit }: Visit, { secondFactors }: AccountServices): Promise<boolean> =>
  (await secondFactors?.state(session.subject.sub, kit))?.app === true

export const removeApp: ChangePage = {
  async show(visit, services) {
    if (!(await hasApp(visit, services))) return undefined
    return services.pages.confirm({ ...(await formOf(visit)), change: 'remove_app' }, visit.locale)
  },
  async submit(_fields, visit, services) {
    if (await isLastFactor(visit, services)) return 'last_factor'
    const isRemoved = await services.secondFactors?.remove(visit.session.subject.sub, visit.kit)
    if (isRemoved !== true) return 'gone'
    await noteChange('app_removed', visit, services)
    return 'app_removed'
  },
}

export const newRecoveryCodes: ChangePage = {
  async show(visit, services) {
    // Codes alone are no second factor.
    if (!(await hasApp(visit, services))) return undefined
    return services.pages.confirm({ ...(await formOf(visit)), change: 'new_recovery_codes' }, visit.locale)
  },
  async submit(_fields, visit, services) {
    if (!(await hasApp(visit, services))) return 'gone'
    const page = await codesPage(visit, services)
    await noteChange('recovery_codes_created', visit, services)
    return page
  },
}
