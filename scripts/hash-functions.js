import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { resolve } = createRequire(new URL('../packages/users/package.json', import.meta.url))

const file = (name) => resolve(`hash-wasm/dist/${name}.umd.min.js`)

/** The files that `hashFunctionsDefine` includes. */
export const hashFunctionFiles = ['argon2', 'bcrypt'].map(file)

/**
 * Returns the scripts of hash-wasm as a constant for `define` of esbuild or tsup, so that a bundle of the server needs no
 * other files. They run in a thread of their own, so they cannot be a part of the bundle.
 */
export const hashFunctionsDefine = () => ({
  GRANTRY_HASH_FUNCTIONS: JSON.stringify(
    JSON.stringify({
      argon2: readFileSync(file('argon2'), 'utf8'),
      bcrypt: readFileSync(file('bcrypt'), 'utf8'),
    }),
  ),
})
