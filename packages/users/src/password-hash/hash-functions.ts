import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The scripts of hash-wasm as JSON, defined by the build of the single file (`scripts/hash-functions.js`). */
declare const GRANTRY_HASH_FUNCTIONS: string | undefined

/** A script of hash-wasm for each algorithm. */
interface Scripts {
  readonly argon2: string
  readonly bcrypt: string
}

function installed(): Scripts {
  const { resolve } = createRequire(import.meta.url)
  const script = (name: string): string => readFileSync(resolve(`hash-wasm/dist/${name}.umd.min.js`), 'utf8')
  try {
    return { argon2: script('argon2'), bcrypt: script('bcrypt') }
  } catch (cause) {
    throw new TypeError('hash-wasm is not installed; it checks argon2 and bcrypt hashes', { cause })
  }
}

/**
 * Returns the program of a thread that computes argon2 and bcrypt. It is a text, because a file beside this one would be
 * missing in a bundle.
 */
export function threadProgram(): string {
  const scripts: Scripts =
    typeof GRANTRY_HASH_FUNCTIONS === 'undefined' ? installed() : JSON.parse(GRANTRY_HASH_FUNCTIONS)
  return `
const { parentPort } = require('node:worker_threads')
const load = (script) => {
  const module = { exports: {} }
  new Function('module', 'exports', script)(module, module.exports)
  return module.exports
}
const functions = { ...load(${JSON.stringify(scripts.argon2)}), ...load(${JSON.stringify(scripts.bcrypt)}) }
parentPort.on('message', async ({ name, options }) => {
  try {
    parentPort.postMessage({ key: await functions[name](options) })
  } catch (error) {
    parentPort.postMessage({ error: error.message })
  }
})`
}
