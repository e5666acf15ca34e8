import process from 'node:process'

/** The scripts of hash-wasm as JSON, which each build includes (`scripts/hash-functions.js`). */
declare const GRANTRY_HASH_FUNCTIONS: string | undefined

/** A script of hash-wasm for each algorithm. */
interface Scripts {
  readonly argon2: string
  readonly bcrypt: string
}

/**
 * Reads the scripts of the sources that run without a build. The modules are not imported: bundlers follow imports, and
 * there is no file beside a bundle.
 */
function installed(): Scripts {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const { resolve } = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  const script = (name: string): string => readFileSync(resolve(`hash-wasm/dist/${name}.umd.min.js`), 'utf8')
  return { argon2: script('argon2'), bcrypt: script('bcrypt') }
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
