// Starts all applications with the settings in APPLICATIONS, and prints a line when they listen. Ends with its input.
import * as authJs from './auth-js.js'
import * as expressOpenidConnect from './express-openid-connect.js'
import * as loopback from './loopback.js'
import * as oidcClientTs from './oidc-client-ts.js'
import * as openidClient from './openid-client.js'
import * as passport from './passport.js'

const applications = {
  'openid-client': openidClient,
  'express-openid-connect': expressOpenidConnect,
  'auth-js': authJs,
  passport,
  'oidc-client-ts': oidcClientTs,
  loopback,
}

const { issuer, settings } = JSON.parse(process.env.APPLICATIONS)
await Promise.all(Object.entries(settings).map(([name, setting]) => applications[name].start({ issuer, ...setting })))
process.stdout.write('listening\n')
process.stdin.resume().on('end', () => process.exit())
