import { describe, expect, it } from 'vitest'
import { isSecretFile } from './context.ts'

const SECRET = [
  '.env',
  '.ENV',
  '.env.local',
  '.Env.Production',
  '.env.example.local',
  '.env~',
  '.env-prod',
  '.env_prod',
  '.envrc',
  '.env.d/a/b',
  'prod.env',
  'docker.env',
  'id_rsa',
  'id_rsa_work',
  'id_rsa.old',
  'id_ed25519',
  'id_ecdsa_sk',
  'id_dsa',
  ...['pem', 'PEM', 'key', 'p8', 'p12', 'pfx', 'ppk', 'jks', 'keystore', 'pkcs12', 'kdbx'].map(
    (end) => `x.${end}`,
  ),
  '_netrc',
  '.netrc',
  '.npmrc',
  '.pypirc',
  'pip.conf',
  '.git-credentials',
  '.dockercfg',
  '.docker/config.json',
  '.kube/config',
  'kubeconfig',
  '.config/gcloud/credentials.db',
  '.azure/accessTokens.json',
  '.aws/credentials',
  '.ssh/config',
  '.gnupg/pubring.kbx',
  '.pgpass',
  '.my.cnf',
  '.htpasswd',
  '.vault-token',
  '.s3cfg',
  '.boto',
  '.terraformrc',
  'terraform.tfstate',
  'terraform.tfstate.backup',
  'prod.tfvars',
  'prod.auto.tfvars.json',
  '.streamlit/secrets.toml',
  'service-account.json',
  'service-account-prod.json',
  'service_account.json',
  '.git/config',
  '.git/objects/ab/cd',
]

const PUBLIC = [
  '.env.example',
  '.env.sample',
  '.env.template',
  '.env.dist',
  '.ENV.EXAMPLE',
  '.env-example',
  '.env.local.example',
  '.envrc.example',
  'example.env',
  'prod.example.env',
  'env',
  'environment',
  'env.py',
  'vite-env.d.ts',
  'app.env.ts',
  'id_rsa.pub',
  'id_ed25519_work.pub',
  'valid_rsa.py',
  'ca.crt',
  'key.py',
  'keys/x',
  'x.key.md',
  'keystore.py',
  'monkey',
  '.gitignore',
  '.gitattributes',
  '.github/workflows/x.yml',
  'docs/git/x',
  '.docker/x',
  '.kube/cache/x',
  '.config/x',
  '.streamlit/config.toml',
  'config.json',
  'account.json',
  'main.tf',
  'prod.tfvars.example',
  'my.cnf',
  'aws/x.py',
  'pip.config.md',
  'netrc.py',
]

describe('files that hold secrets', () => {
  it.each(SECRET)('%s is one, wherever it is', (path) => {
    expect(isSecretFile(path)).toBe(true)
    expect(isSecretFile(`deep/er/${path}`)).toBe(true)
  })

  it.each(PUBLIC)('%s is none', (path) => {
    expect(isSecretFile(path)).toBe(false)
    expect(isSecretFile(`deep/er/${path}`)).toBe(false)
  })

  it.each(['.git/', 'a/.aws/', '.config/gcloud/', '.env.d/'])('%s is a folder of them', (path) => {
    expect(isSecretFile(path)).toBe(true)
  })

  it.each(['x.pem/', '.env/', 'keys/', '.config/'])('%s is a folder of anything', (path) => {
    expect(isSecretFile(path)).toBe(false)
  })
})
