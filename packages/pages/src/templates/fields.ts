import { type Content, type Html, html } from '../html.ts'
import type { Tools } from '../tools.ts'
import { icons } from './icons.ts'

interface PasswordField {
  /** The id of the field, and its name. */
  readonly id: string
  readonly label: string
  readonly autocomplete: 'current-password' | 'new-password'
  readonly isFocused?: boolean | undefined
  /** The id of the problem or hint that describes it. */
  readonly describedBy?: string | undefined
  /** The fewest characters of a new password, for the browser and for password managers. */
  readonly minLength?: number | undefined
  /** A link beside the label. */
  readonly beside?: Content
}

/**
 * A field for a password, with a button that shows it and a hint while Caps Lock is on; both need `passwordScript`.
 * Password managers read `passwordrules` when they propose a new password.
 */
export function passwordField(field: PasswordField, { text }: Tools): Html {
  const { id, label, autocomplete, isFocused, describedBy, minLength, beside } = field
  const isNew = autocomplete === 'new-password'
  const limits =
    isNew &&
    minLength !== undefined &&
    html` minlength="${minLength}" passwordrules="minlength: ${minLength}; allowed: ascii-printable;"`
  // The wrapper has the direction of the field, so that the button does not cover its text.
  return html`<div class="secret"><label for="${id}">${label}</label><div class="field" dir="ltr"><input id="${id}" name="${id}" type="password" required maxlength="1024" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false"${limits}${isFocused === true && html` autofocus`}${describedBy !== undefined && html` aria-describedby="${describedBy}"`}><button type="button" class="reveal" aria-controls="${id}" aria-pressed="false" hidden>${icons.shown}${icons.concealed}<span class="unseen">${text('showPassword')}</span></button></div>${beside !== undefined && beside !== false && html`<p class="beside">${beside}</p>`}<p class="caps" role="status" data-text="${text('capsLock')}"></p></div>`
}
