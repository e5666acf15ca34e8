import { compareClocks } from './dpop.js'

/**
 * The data that the page loads first.
 *
 * @typedef {object} Client
 * @property {string} clientId
 * @property {boolean} public
 * @property {string[]} grantTypes
 * @property {string[]} scopes
 * @property {string[]} redirectUris
 *
 * @typedef {object} Grant
 * @property {string} grantType
 * @property {{ name: string, required: boolean }[]} [fields]
 * @property {'required' | 'optional' | 'ignored'} scope
 *
 * @typedef {object} Demo
 * @property {Record<string, string>} clients
 * @property {Record<string, string>} apis
 * @property {{ username: string, password: string }[]} users
 * @property {Record<string, string>} fields
 *
 * @typedef {object} Setup
 * @property {string} issuer
 * @property {Record<string, string | undefined>} paths
 * @property {Client[]} clients
 * @property {Grant[]} grants
 * @property {string[]} apis
 * @property {string[]} [dpopAlgorithms] absent if the server has no DPoP
 * @property {Demo} [demo]
 *
 * The setup for visitors of a server with an administration. Administrators get the rest after they have signed in.
 * @typedef {object} AdministrationSetup
 * @property {string} issuer
 * @property {Record<string, string | undefined>} paths
 * @property {{ clientId: string, redirectUri: string, scope: string, mustPush: boolean }} administration
 */

/** @returns {Promise<Setup | AdministrationSetup>} */
export async function loadSetup() {
  const response = await fetch('/console/setup.json', { credentials: 'omit' })
  compareClocks(response)
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}
