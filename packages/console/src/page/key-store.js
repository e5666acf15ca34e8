import { createKeyPair } from './dpop.js'

const database = 'grantry-console'
const store = 'keys'
const name = 'dpop'

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(database, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(store)
  return settled(request)
}

/**
 * Returns the key that the tokens of all tabs are bound to. The key is created once and kept, because the page is left
 * while the user signs in. Its private part cannot be exported, so a reader of the storage cannot copy the key.
 *
 * @returns {Promise<CryptoKeyPair>}
 */
export async function storedKeyPair() {
  const opened = await open()
  try {
    const keys = (/** @type {IDBTransactionMode} */ mode) => opened.transaction(store, mode).objectStore(store)
    const known = await settled(keys('readonly').get(name))
    if (known !== undefined) return known
    const made = await createKeyPair()
    // Another tab may have been faster: the first key counts.
    await settled(keys('readwrite').add(made, name)).catch(() => {})
    return await settled(keys('readonly').get(name))
  } finally {
    opened.close()
  }
}

/** Forgets the key. Tokens that are bound to it are useless then. */
export async function removeKeyPair() {
  const opened = await open()
  try {
    await settled(opened.transaction(store, 'readwrite').objectStore(store).delete(name))
  } finally {
    opened.close()
  }
}
