/** Shows the form where the browser supports passkeys. Creates one, and sends its response with the form. */
export const registrationScript = `(() => {
const show = (id) => { for (const one of ['failed', 'known', 'unsupported']) document.getElementById(one).hidden = one !== id }
if (!window.PublicKeyCredential) return show('unsupported')
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
const box = document.getElementById('enrol')
const { challenge, rp, user, algorithms, exclude } = JSON.parse(box.dataset.options)
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
