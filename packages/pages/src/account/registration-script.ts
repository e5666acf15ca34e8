/**
 * Shows the form where the browser supports passkeys. Creates one, and sends its response with the form. Before the device
 * acts, a form that has become too old is loaded again. A passkey that the server has refused is removed.
 */
export const registrationScript = `(() => {
const show = (id) => { for (const part of ['failed', 'known', 'unsupported']) document.getElementById(part).hidden = part !== id }
if (!window.PublicKeyCredential) return show('unsupported')
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
const box = document.getElementById('enrol')
const { challenge, rp, user, algorithms, exclude, lifetime } = JSON.parse(box.dataset.options)
const end = Date.now() + lifetime * 1000
PublicKeyCredential.signalAllAcceptedCredentials?.({ rpId: rp.id, userId: user.id, allAcceptedCredentialIds: exclude }).catch(() => {})
const form = box.querySelector('form')
box.hidden = false
const publicKey = {
challenge: bytes(challenge), rp, user: { ...user, id: bytes(user.id) },
pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
excludeCredentials: exclude.map((id) => ({ type: 'public-key', id: bytes(id) })),
authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
attestation: 'none'
}
form.addEventListener('submit', async (event) => {
event.preventDefault()
if (Date.now() > end) return location.reload()
show()
try {
const { id, type, response } = await navigator.credentials.create({ publicKey })
const { clientDataJSON } = response
form.elements.credential.value = JSON.stringify({ id, rawId: id, type, response: { clientDataJSON: encode(clientDataJSON), authenticatorData: encode(response.getAuthenticatorData()) } })
form.submit()
} catch (error) {
show(error.name === 'InvalidStateError' ? 'known' : 'failed')
}
})
})()`

/**
 * Reports the passkeys that the user has, and the name of the user, so that the browser neither offers removed ones nor
 * shows a former name.
 *
 * @see WebAuthn Level 3 section 5.1.10
 */
export const signalScript = `(() => {
const api = window.PublicKeyCredential
if (!api) return
const { rpId, userId, name, displayName, credentialIds } = JSON.parse(document.getElementById('passkeys').dataset.signals)
api.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds: credentialIds }).catch(() => {})
api.signalCurrentUserDetails?.({ rpId, userId, name, displayName }).catch(() => {})
})()`
