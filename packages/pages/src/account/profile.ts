import type { ChangeProfileView, OverviewView, ProfileField } from '@grantry/plugins/account'
import { type Content, html } from '../html.ts'
import { alert, userLine } from '../templates/parts.ts'
import type { Texts } from '../texts.ts'
import type { Page } from '../tools.ts'
import { changeForm } from './parts.ts'
import type { AccountTools } from './tools.ts'

/** The label of each claim, and its value of `autocomplete`. */
const labels: Readonly<Record<ProfileField['claim'], readonly [keyof Texts['account'], autocomplete: string]>> = {
  name: ['claimName', 'name'],
  given_name: ['claimGivenName', 'given-name'],
  family_name: ['claimFamilyName', 'family-name'],
  middle_name: ['claimMiddleName', 'additional-name'],
  nickname: ['claimNickname', 'nickname'],
  profile: ['claimProfile', 'off'],
  picture: ['claimPicture', 'photo'],
  website: ['claimWebsite', 'url'],
  gender: ['claimGender', 'sex'],
  birthdate: ['claimBirthdate', 'bday'],
  zoneinfo: ['claimZoneinfo', 'off'],
  locale: ['claimLocale', 'language'],
}

const problems: Readonly<Record<NonNullable<ProfileField['problem']>, keyof Texts['account']>> = {
  text: 'profileText',
  url: 'profileUrl',
  date: 'profileDate',
  zone: 'profileZone',
  language: 'profileLanguage',
}

/** The claims that the user has set, each with its label. */
export function profileOf({ profile }: OverviewView, { accountText }: AccountTools): Content {
  if (profile === undefined) return false
  const items = profile.fields.map(
    ({ claim, value }) =>
      html`<li class="entry"><div><small>${accountText(labels[claim][0])}</small><strong><bdi>${value}</bdi></strong></div></li>`,
  )
  const list = items.length === 0 ? html`<p class="muted">${accountText('profileNone')}</p>` : html`<ul>${items}</ul>`
  return html`<section aria-labelledby="profile"><h2 id="profile">${accountText('profileTitle')}</h2>${list}<p class="links"><a id="change-profile" href="${profile.change}">${accountText('profileChange')}</a></p></section>`
}

function fieldOf({ claim, value, problem }: ProfileField, { accountText }: AccountTools): Content {
  const [label, autocomplete] = labels[claim]
  const id = `claim-${claim}`
  const about = problem !== undefined && html` aria-invalid="true" aria-describedby="${id}-problem"`
  const message =
    problem !== undefined && html`<p class="beside" id="${id}-problem">${accountText(problems[problem])}</p>`
  return html`<label for="${id}">${accountText(label)}</label><input id="${id}" name="${claim}" type="text" maxlength="500" dir="auto" autocomplete="${autocomplete}" value="${value}"${about}>${message}`
}

/** A field for each claim. The first problem is an alert, too, which leads a screen reader to the field. */
export function changeProfile(view: ChangeProfileView, tools: AccountTools): Page {
  const { accountText } = tools
  const title = accountText('profileChange')
  const wrong = view.fields.find(({ problem }) => problem !== undefined)
  const message = wrong?.problem && `${accountText(labels[wrong.claim][0])}: ${accountText(problems[wrong.problem])}`
  const fields = view.fields.map((field) => fieldOf(field, tools))
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${accountText('profileIntro')}</p>${alert(message)}${changeForm(view, accountText('save'), tools, html`${fields}`)}`
  return { title, content }
}
