import { field, textInput } from './elements.js'
import { fieldDescription, fieldLabel } from './labels.js'

/** @import { Session } from './session.js' */
/** @import { Setup, Client, Grant } from './setup.js' */

/**
 * Returns the initial value of a field: from the demo, or from the session.
 *
 * @param {string} name
 * @param {Setup} setup
 * @param {Client | undefined} client
 * @param {Session | undefined} session
 */
function prefilled(name, { demo }, client, session) {
  if (name === 'refresh_token') return session?.refresh ?? ''
  if (name === 'redirect_uri') return client?.redirectUris[0] ?? ''
  const user = demo?.users[0]
  if (name === 'username' || name === 'password') return user?.[name] ?? ''
  return demo?.fields[name] ?? ''
}

/**
 * Returns the fields of a grant.
 *
 * @param {Grant | undefined} grant
 * @param {Setup} setup
 * @param {Client | undefined} client
 * @param {Session | undefined} session
 */
export function grantFields(grant, setup, client, session) {
  const fields = (grant?.fields ?? []).map(({ name, required }) => {
    const isSecret = name === 'password' && setup.demo === undefined
    const value = prefilled(name, setup, client, session)
    const input = textInput(`field-${name}`, value, { name, ...(isSecret && { type: 'password' }) })
    return { input, part: field(fieldLabel(name), input, fieldDescription(name, required)) }
  })

  /** @returns {(readonly [string, string])[]} */
  const chosen = () =>
    fields
      .filter(({ input }) => input.value !== '')
      .map(({ input }) => /** @type {const} */ ([input.name, input.value]))

  /** @param {Record<string, string>} values */
  function fill(values) {
    for (const { input } of fields) input.value = values[input.name] ?? input.value
  }

  return { parts: fields.map(({ part }) => part), chosen, fill }
}
