// Starts `server.cjs` beside it with the compiled code that a first start has left: to compile the server takes as much CPU
// time as everything else in a start. Node.js 20 has no cache of compiled code for modules.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')

const filename = join(__dirname, 'server.cjs')
const cache = join(__dirname, 'server.cache')
const code = readFileSync(filename, 'latin1')
const parameters = 'exports, require, module, __filename, __dirname, importOfStart'
const script = new Script(`(function (${parameters}) { ${code}\n})`, {
  filename,
  ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
})
if (process.env.GRANTRY_TEST_CODE_CACHE === 'write') {
  process.once('exit', () => writeFileSync(cache, script.createCachedData()))
}
const module_ = { exports: {} }
const importOfStart = (specifier) => import(specifier)
script.runInThisContext()(module_.exports, createRequire(filename), module_, filename, __dirname, importOfStart)
