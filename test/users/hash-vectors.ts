/** The password of the hashes below. */
export const password = 'pässword: "x"'

const keycloakSalt = 'AAECAwQFBgcICQoLDA0ODw=='

/** Exports of Keycloak, for the same password. */
export const keycloakCredentials = {
  'pbkdf2-sha256': {
    credentialData: '{"hashIterations":27500,"algorithm":"pbkdf2-sha256","additionalParameters":{}}',
    secretData: `{"value":"3Scu5/BHg94ZuTgOu9f/TRSnhT5vn5A6Tn9ZC7pp4nF70VZQQfQx61WdORjsRVIj29eVLExCoATGt4SpfPLjUQ==","salt":"${keycloakSalt}","additionalParameters":{}}`,
  },
  argon2: {
    credentialData:
      '{"hashIterations":5,"algorithm":"argon2","additionalParameters":{"hashLength":["32"],"memory":["7168"],"type":["id"],"version":["1.3"],"parallelism":["1"]}}',
    secretData: `{"value":"yVU8vhBLrwodVkN9o42whelNV5H7YVnUoOBRbyb1VE8=","salt":"${keycloakSalt}","additionalParameters":{}}`,
  },
} as const

/** Hashes that other programs made: argon2-cffi, bcrypt, passlib and Django, and the layout of ASP.NET Core Identity. */
export const foreignHashes: Readonly<Record<string, string>> = {
  argon2id: '$argon2id$v=19$m=1024,t=2,p=2$AAECAwQFBgcICQoLDA0ODw$kHmtDij6jFzU/8rtVNtqcIa1p0Cej3+o9TnL9MgjOt4',
  'argon2id with 16 bytes': '$argon2id$v=19$m=256,t=3,p=1$AAECAwQFBgcICQoLDA0ODw$LBD9MlYz39nEr/kpP8WbvQ',
  'argon2id with 64 bytes':
    '$argon2id$v=19$m=512,t=1,p=4$AAECAwQFBgcICQoLDA0ODw$YmjxolUNrDr53a8143I/769vJ5u67TpYI3Ha07idgpKCiVb5RPV6RadMc4bGO9QNgNsBQ2YECSM9CzCTIeyi/Q',
  argon2i: '$argon2i$v=19$m=1024,t=2,p=2$AAECAwQFBgcICQoLDA0ODw$TEvN+d68rQGzHw0sysmvut7KKUGdeCb32cDsKYIaV70',
  'bcrypt $2a$': '$2a$04$3gQcmU6w9jk7zlr5yRoCTe8Mw4y63yx1bj4jAPrIa3UPOqZwZ7S2e',
  'bcrypt $2b$': '$2b$04$zxlzcaBcql3BVNIWst.SMOSxFkptDASYTuifhpcoI4zfoGj5yXMPy',
  'bcrypt $2y$': '$2y$05$5NfohqqlmIjCXRFricoDc.85NYXNROwq7MOsziLm2K4LKbzdlyvqi',
  'passlib pbkdf2-sha256': '$pbkdf2-sha256$1000$/v9/T0npfa/1vtfamxPCmA$RgH/IoTEqlmzPEgag192abnVmKvZz1N.sTlEL.NM6Vo',
  'passlib pbkdf2-sha512':
    '$pbkdf2-sha512$1000$CaHUWqv1fu9d6x2D0BojxA$yNViIp.8qsIwa/G43TltBM8hTAEZ2RvL/OK0U4pwy2B6fsIv8PtuIPBKLhwo165CrcW0S5mev00cAviZP0I8mQ',
  'passlib pbkdf2': '$pbkdf2$1000$XivFWOsdQ6iVkjLmvDemNA$Nk99C8q4KxNyHZv0jgKQBnbTepQ',
  'a PHC string of pbkdf2-sha256':
    '$pbkdf2-sha256$i=1000,l=32$/v9/T0npfa/1vtfamxPCmA$RgH/IoTEqlmzPEgag192abnVmKvZz1N+sTlEL+NM6Vo',
  'Django pbkdf2_sha256': 'pbkdf2_sha256$1000$saltsaltsaltsalt1234$QGb4lIBY+f5dKs8rLeWn0JEU+zHT4m1btgUczjAbu7I=',
  'Django pbkdf2_sha1': 'pbkdf2_sha1$1000$saltsaltsaltsalt1234$RUWyhQOulKmUocTBeKiZlOknlm8=',
  'ASP.NET Core Identity with SHA-256':
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+Of8Uit3V4ab7g2dfhCK1PfyEwPMhsyu6mT7Wyup0dsg==',
  'ASP.NET Core Identity with SHA-512':
    'AQAAAAIAAAPoAAAAEAABAgMEBQYHCAkKCwwNDg8NGCjmGhrXLxw/q0DHnQZhrO+DAYyxAVVOawacEUd7IQ==',
  'ASP.NET Identity 2': 'AAABAgMEBQYHCAkKCwwNDg8eqIwri33bWqw4IS4HkcpyBEhxwh6mg7yef0eveQ5crg==',
}
