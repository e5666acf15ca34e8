/**
 * Shows the button of the passkey where the browser supports it. Asks for a passkey, and sends its response with the
 * form. Without scripts, the button stays hidden.
 */
export const passkeyScript = `(() => {
const button = document.getElementById('passkey')
if (!window.PublicKeyCredential) return
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
button.hidden = false
button.addEventListener('click', async () => {
const { challenge, rpId } = button.dataset
const publicKey = { challenge: bytes(challenge), rpId, userVerification: 'required' }
const found = await navigator.credentials.get({ publicKey }).catch(() => undefined)
if (!found) return
const { clientDataJSON, authenticatorData, signature } = found.response
const response = { clientDataJSON: encode(clientDataJSON), authenticatorData: encode(authenticatorData), signature: encode(signature) }
button.form.elements.credential.value = JSON.stringify({ id: found.id, rawId: found.id, type: found.type, response })
button.form.submit()
})
})()`
