/**
 * Shows that a form is being sent, and sends it once. A response can leave the page open, such as one that starts an
 * application, so the form becomes usable again after a while, and the page says that it is no longer needed.
 */
export const formScript = `(() => {
const opened = document.getElementById('opened')
const end = (form) => {
form.removeAttribute('aria-busy')
for (const button of form.querySelectorAll('[data-busy]')) delete button.dataset.busy
}
const endLate = (form) => {
end(form)
if (opened) opened.textContent = opened.dataset.text
}
document.addEventListener('submit', (event) => {
const { target: form, submitter } = event
if (form.getAttribute('aria-busy') === 'true') return event.preventDefault()
form.setAttribute('aria-busy', 'true')
if (submitter) submitter.dataset.busy = ''
if (opened) opened.textContent = ''
setTimeout(endLate, 4000, form)
})
addEventListener('pageshow', (event) => event.persisted && [...document.forms].forEach(end))
})()`

/**
 * Shows the buttons that show passwords, and a hint while Caps Lock is on. A password is concealed before its form is
 * sent: browsers remember what other fields contain.
 */
export const passwordScript = `(() => {
for (const button of document.querySelectorAll('.reveal')) {
const field = document.getElementById(button.getAttribute('aria-controls'))
const show = (isShown) => {
field.type = isShown ? 'text' : 'password'
button.setAttribute('aria-pressed', String(isShown))
}
button.hidden = false
button.addEventListener('click', () => show(field.type === 'password'))
field.form.addEventListener('submit', () => show(false))
const hint = button.closest('.secret').querySelector('.caps')
const check = (event) => {
const text = event.getModifierState?.('CapsLock') ? hint.dataset.text : ''
if (hint.textContent !== text) hint.textContent = text
}
for (const type of ['keydown', 'keyup', 'mousedown', 'blur']) field.addEventListener(type, check)
}
})()`

/**
 * Shows the button of the passkey where the browser supports it, and offers passkeys in the field of the user name where
 * the browser can. Sends the response with the form. There is one challenge, so only one of both asks at a time. A passkey
 * that no longer exists is reported, so that the browser does not offer it again (WebAuthn Level 3 section 5.1.10).
 */
export const passkeyScript = `(() => {
const button = document.getElementById('passkey')
const api = window.PublicKeyCredential
if (!api) return
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
const { challenge, rpId, unknown } = button.dataset
if (unknown) api.signalUnknownCredential?.({ rpId, credentialId: unknown }).catch(() => {})
const ask = async (more) => {
const publicKey = { challenge: bytes(challenge), rpId, userVerification: 'required' }
const credential = await navigator.credentials.get({ publicKey, ...more }).catch(() => undefined)
if (!credential) return
const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response
const response = { clientDataJSON: encode(clientDataJSON), authenticatorData: encode(authenticatorData), signature: encode(signature) }
if (userHandle) response.userHandle = encode(userHandle)
button.form.elements.credential.value = JSON.stringify({ id: credential.id, rawId: credential.id, type: credential.type, response })
button.form.submit()
return true
}
let offered
let isAsking = false
const offer = async () => {
const canOffer = button.form.elements.username && (await api.isConditionalMediationAvailable?.().catch(() => false))
if (!canOffer || isAsking) return
offered = new AbortController()
await ask({ mediation: 'conditional', signal: offered.signal })
}
button.hidden = false
button.addEventListener('click', async () => {
if (isAsking) return
isAsking = true
offered?.abort()
const isSent = await ask()
isAsking = false
if (!isSent) offer()
})
offer()
})()`

/** One script of several: a page has one. */
export const scriptOf = (...scripts: readonly (string | false | undefined)[]): string =>
  scripts.filter((script) => typeof script === 'string').join(';\n')
