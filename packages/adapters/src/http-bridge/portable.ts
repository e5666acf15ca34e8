// The parts that do not use `node:http`, for servers of other runtimes.

export {
  defaultDrain,
  idleTimeoutOf,
  type RunningServer,
  requestTimeoutOf,
  type ServeOptions,
} from './bridge-options.ts'
export { createCallbacks } from './callbacks.ts'
export { clientAddress } from './client-address.ts'
export { createReadCertificate } from './client-certificate.ts'
export { createConcurrencyLimit } from './concurrency-limit.ts'
export { errorPage, errorPageHeaders, isForUser } from './error-page.ts'
export { type BodyReader, delegate, LazyBody } from './lazy-body.ts'
export { checkTls } from './tls.ts'
