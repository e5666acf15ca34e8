import type { Reply } from '@grantry/core'
import type { Account } from '../shared/account-store.ts'
import { trimUnseen } from '../shared/unseen.ts'
import type { ProfileField, ProfileProblem } from './account-pages.ts'
import { accountOf, callAccounts } from './accounts.ts'
import { noteChange } from './changes.ts'
import type { ProfileClaim } from './profile-claims.ts'
import type { AccountServices, ChangePage, Fields } from './services.ts'
import { formTokenFor, mayStillChange, nameIn, urlOf, type Visit } from './visit.ts'

export const profilePath = 'profile'

/** Characters. */
const maxText = 200
const maxUrl = 500

/** Characters that change the direction of text. Address books and chats put them around names. */
const direction = /[\u202A-\u202E\u2066-\u2069]/gu

/** A text that is pasted from several lines is one line in the field of a browser with scripts, too. */
const lineBreak = /(?:\r\n|[\t\n\v\f\r\u0085\u2028\u2029])+/gu

/** Control characters and halves of characters. */
const unsafe = /[\p{Cc}\p{Cs}]/u

type Checked = { readonly value: string } | { readonly problem: ProfileProblem }

const text = (entered: string): Checked =>
  [...entered].length <= maxText && !unsafe.test(entered) ? { value: entered } : { problem: 'text' }

/** Other schemes could run a script in an application that shows a link. */
function url(entered: string): Checked {
  const isUrl = entered.length <= maxUrl && /^https:\/\/[^\s"'<>\\^`{|}]+$/u.test(entered) && URL.canParse(entered)
  return isUrl && !unsafe.test(entered) ? { value: entered } : { problem: 'url' }
}

/** A date, of which the year can be unknown (`0000`), or a year. */
function date(entered: string): Checked {
  const [, year = '', month, day] = /^(\d{4})(?:-(\d\d)-(\d\d))?$/u.exec(entered) ?? []
  if (year === '') return { problem: 'date' }
  if (month === undefined) return year === '0000' ? { problem: 'date' } : { value: entered }
  // A year that has all days.
  const known = new Date(`${year === '0000' ? '2000' : year}-${month}-${day}T00:00:00Z`)
  const isDay = !Number.isNaN(known.getTime()) && known.toISOString().slice(5, 10) === `${month}-${day}`
  return isDay ? { value: entered } : { problem: 'date' }
}

function zone(entered: string): Checked {
  if (!/^[A-Za-z][\w+/-]{0,63}$/u.test(entered)) return { problem: 'zone' }
  try {
    new Intl.DateTimeFormat('en', { timeZone: entered })
    return { value: entered }
  } catch {
    return { problem: 'zone' }
  }
}

function language(entered: string): Checked {
  try {
    const [value] = entered.length > 35 ? [] : Intl.getCanonicalLocales(entered)
    return value === undefined ? { problem: 'language' } : { value }
  } catch {
    return { problem: 'language' }
  }
}

const checks: Readonly<Partial<Record<ProfileClaim, (entered: string) => Checked>>> = {
  profile: url,
  picture: url,
  website: url,
  birthdate: date,
  zoneinfo: zone,
  locale: language,
}

/** The length is checked before normalization, which takes time. */
function checked(claim: ProfileClaim, entered: string): Checked {
  if (entered.length > 2 * maxUrl) return { problem: 'text' }
  const trimmed = trimUnseen(entered.normalize('NFC').replace(direction, '').replace(lineBreak, ' '))
  return trimmed === '' ? { value: '' } : (checks[claim] ?? text)(trimmed)
}

/** The claims of an account that its user can change. Another value than a text is the operator's. */
function fieldsOf({ claims }: Account, { accounts, profile }: AccountServices): readonly ProfileField[] {
  const stored = accounts?.claimNames
  return profile.flatMap((claim) => {
    const value = Object.hasOwn(claims, claim) ? (claims[claim] ?? '') : ''
    const isOwn = typeof value === 'string' && (stored === undefined || stored.includes(claim))
    return isOwn ? [{ claim, value }] : []
  })
}

/** Returns what the overview shows. */
export function profileView(account: Account | undefined, { kit }: Visit, services: AccountServices) {
  const fields = account && fieldsOf(account, services)
  if (fields === undefined || fields.length === 0) return undefined
  return { fields: fields.filter(({ value }) => value !== ''), change: urlOf(kit, profilePath) }
}

async function profilePage(visit: Visit, { pages }: AccountServices, fields: readonly ProfileField[]): Promise<Reply> {
  const { session, kit, path, locale } = visit
  const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } }
  return pages.changeProfile({ subjectName: nameIn(session), form, back: urlOf(kit), fields }, locale)
}

/** Returns the fields as the user has entered them. */
const enteredIn = (fields: readonly ProfileField[], entered: Fields): readonly ProfileField[] =>
  fields.map((field) => {
    const value = (Object.hasOwn(entered, field.claim) ? entered[field.claim] : undefined) ?? field.value
    const result = checked(field.claim, value)
    return 'problem' in result
      ? { ...field, value: value.slice(0, maxUrl), problem: result.problem }
      : { ...field, ...result }
  })

export const changeProfile: ChangePage = {
  keeps: 'profile',
  async show(visit, services) {
    const account = await accountOf(visit, services)
    const fields = account && fieldsOf(account, services)
    return fields === undefined || fields.length === 0 ? undefined : profilePage(visit, services, fields)
  },
  async submit(entered, visit, services) {
    const { kit, session } = visit
    const account = await accountOf(visit, services)
    if (account === undefined) return 'gone'
    const before = fieldsOf(account, services)
    const after = enteredIn(before, entered)
    if (after.some(({ problem }) => problem !== undefined)) return profilePage(visit, services, after)
    const changed = after.filter(({ value }, index) => value !== before[index]?.value)
    if (changed.length === 0) return { location: urlOf(kit) }
    if (!(await mayStillChange(visit, services))) return 'gone'
    const someClaims = Object.fromEntries(changed.map(({ claim, value }) => [claim, value === '' ? null : value]))
    const isStillAllowed = () => mayStillChange(visit, services)
    const outcome = await callAccounts(visit, services, (store) =>
      store.change(session.subject.sub, { someClaims, isStillAllowed }),
    )
    if (outcome === undefined || outcome === 'taken') return 'gone'
    await noteChange('profile_changed', visit, services)
    return 'profile_changed'
  },
}
