import type { SecretCase } from './secret-case.ts';

/** What printed a result stands before it, as in the request to a model. */
const printed = (command: string, result: string): string =>
  `[Tool call]: Bash(${JSON.stringify({ command })})\n[Tool result]: ${result}`;

/**
 * Secrets that only a command, a label or a sentence gives away, written down before the rules for them. `§` stands for the secret. `split.ts` says
 * which kinds the rules may be tuned on.
 */
export const SURROUNDING_SECRETS: readonly SecretCase[] = [
  [
    'prints-terraform',
    (d) => d.password(),
    [printed('terraform output -raw db_password', '§'), '$ terraform output -raw admin_secret\n§\n$ '],
  ],
  [
    'prints-op',
    (d) => d.word(),
    [
      printed('op read "op://Private/db/password"', '§'),
      printed('op item get db --fields label=password --reveal', '§'),
    ],
  ],
  [
    'prints-pass',
    (d) => d.password(),
    [printed('pass show acme/db', '§\nuser: jo\nurl: acme.io'), '❯ pass acme/mail\n§\nlogin: jo'],
  ],
  [
    'prints-kubectl-jsonpath',
    (d) => d.password(),
    [
      printed("kubectl get secret db -o jsonpath='{.data.password}' | base64 -d", '§'),
      '$ kubectl get secret -n argocd argocd-initial-admin-secret -o jsonpath="{.data.password}" | base64 -d; echo\n§\n',
    ],
  ],
  [
    'prints-kubectl-yaml',
    (d) => Buffer.from(d.password()).toString('base64'),
    [
      printed(
        'kubectl get secret db -o yaml',
        'apiVersion: v1\ndata:\n  db-url: §\nkind: Secret\nmetadata:\n  name: db',
      ),
      printed('kubectl get secret db -o json', '{"apiVersion":"v1","data":{"dsn":"§"},"kind":"Secret"}'),
    ],
  ],
  [
    'prints-ssm',
    (d) => d.password(),
    [
      printed('aws ssm get-parameter --name /prod/db --with-decryption --query Parameter.Value --output text', '§'),
      printed(
        'aws ssm get-parameter --name /prod/db --with-decryption',
        '{\n    "Parameter": {\n        "Name": "/prod/db",\n        "Type": "SecureString",\n        "Value": "§",\n        "Version": 3\n    }\n}',
      ),
    ],
  ],
  [
    'prints-secretsmanager',
    (d) => d.password(),
    [
      printed('aws secretsmanager get-secret-value --secret-id db --query SecretString --output text', '§'),
      printed(
        'aws secretsmanager get-secret-value --secret-id db',
        '{"ARN":"arn:aws:secretsmanager:eu-west-1:1:secret:db","Name":"db","SecretString":"{\\"username\\":\\"jo\\",\\"pw\\":\\"§\\"}"}',
      ),
    ],
  ],
  [
    'prints-gcloud',
    (d) => d.alnum(24),
    [printed('gcloud secrets versions access latest --secret=db', '§'), printed('gcloud auth print-access-token', '§')],
  ],
  [
    'prints-az',
    (d) => d.alnum(34),
    [
      printed('az keyvault secret show --vault-name kv --name db --query value -o tsv', '§'),
      printed(
        'az acr credential show -n acme',
        '{\n  "passwords": [\n    {\n      "name": "password",\n      "value": "§"\n    }\n  ],\n  "username": "acme"\n}',
      ),
    ],
  ],
  [
    'prints-vault',
    (d) => d.password(),
    [
      printed('vault kv get -field=pw secret/db', '§'),
      printed(
        'vault kv get secret/db',
        '====== Data ======\nKey         Value\n---         -----\npw          §\nusername    jo',
      ),
    ],
  ],
  [
    'prints-gh-token',
    (d) => d.alnum(40),
    [printed('gh auth token', '§'), printed('gh auth status --show-token', 'github.com\n  - Token: §')],
  ],
  [
    'prints-env-file',
    (d) => d.alnum(24),
    [
      printed('cat .env.production', 'NODE_ENV=production\nBILLING=§\nPORT=3000'),
      printed('printenv ORDERS_DSN_PW', '§'),
    ],
  ],
  ['prints-echo', (d) => d.alnum(30), [printed('echo $STRIPE_TOKEN', '§'), '$ echo "$API_SECRET"\n§\n$ ls']],
  [
    'prints-keychain',
    (d) => d.word(),
    [printed('security find-generic-password -s acme -w', '§'), printed('secret-tool lookup service acme', '§')],
  ],
  ['prints-random', (d) => d.hex(64), [printed('openssl rand -hex 32', '§'), '$ openssl rand -hex 32\n§\n$ vi .env']],
  [
    'prints-heroku',
    (d) => d.password(),
    [
      printed('heroku config:get MAIL_PW -a shop', '§'),
      printed('heroku config -a shop', '=== shop Config Vars\nMAIL_PW:    §\nTZ:         UTC'),
    ],
  ],
  [
    'prints-bw',
    (d) => d.password(),
    [printed('bw get password acme', '§'), printed('lpass show --password acme', '§')],
  ],
  [
    'prints-sops',
    (d) => d.password(),
    [
      printed('sops -d secrets.yaml', 'smtp:\n    user: jo\n    pw: §'),
      printed('ansible-vault view group_vars/all/vault.yml', 'vault_db: §'),
    ],
  ],
  [
    'prints-doppler',
    (d) => d.password(),
    [printed('doppler secrets get DB --plain', '§'), printed('infisical secrets get DB --plain', '§')],
  ],
  [
    'prints-file',
    (d) => d.alnum(30),
    [printed('cat /run/secrets/db_password', '§'), printed('sudo cat /etc/k8s/token', '§')],
  ],
  [
    'prints-ecr',
    (d) => d.base64(300),
    [printed('aws ecr get-login-password --region eu-west-1', '§'), '$ aws ecr get-login-password\n§\n'],
  ],
  [
    'prints-kube-token',
    (d) => d.alnum(60),
    [
      printed('kubectl create token deployer', '§'),
      printed('kubectl config view --raw', 'users:\n- name: jo\n  user:\n    client-key-data: §'),
    ],
  ],
  [
    'prints-k8s-describe',
    (d) => d.alnum(50),
    [
      printed(
        'kubectl describe secret deploy-token',
        'Name:  deploy-token\nData\n====\nnamespace:  7 bytes\ntoken:      §',
      ),
      'Data\n====\ntoken:      §\nca.crt:     1066 bytes',
    ],
  ],
  [
    'prints-docker-inspect',
    (d) => d.password(),
    [
      printed('docker inspect db', '"Env": [\n  "POSTGRES_PASSWORD=§",\n  "PATH=/usr/bin"\n]'),
      printed('docker exec db env', 'PATH=/usr/bin\nMYSQL_ROOT_PASSWORD=§\nHOME=/root'),
    ],
  ],
  [
    'prints-git-credential',
    (d) => d.alnum(30),
    [
      printed('git credential fill', 'protocol=https\nhost=git.acme.io\nusername=jo\npassword=§'),
      printed('cat ~/.git-credentials', 'https://jo:§@git.acme.io'),
    ],
  ],
  [
    'prints-claude-args',
    (d) => d.word(),
    [
      '[Tool call]: shell({"command":["bash","-lc","op read op://a/b/c"]})\n[Tool result]: §',
      '[Tool call]: run_command({"cmd":"pass show a/b"})\n[Tool result]: §',
    ],
  ],

  ['htpasswd-file', (d) => `$apr1$${d.alnum(8)}$${d.alnum(22)}`, ['jo:§', 'admin:§\n']],
  ['shadow-file', (d) => `$6$${d.alnum(16)}$${d.alnum(86)}`, ['root:§:19700:0:99999:7:::', 'deploy:§:19000::::::']],
  ['wireguard', (d) => `${d.base64(43)}=`, ['[Interface]\nPrivateKey = §\nAddress = 10.0.0.2/32', 'PresharedKey = §']],
  ['ssh-config-comment', (d) => d.password(), ['# pw for jump host: §', '// TODO remove: pwd = §']],
  ['rclone', (d) => d.url(40), ['[s3]\ntype = sftp\nuser = jo\npass = §', 'RCLONE_CONFIG_S3_PASS=§']],
  ['msmtp', (d) => d.password(), ['account acme\nhost mail.acme.io\nuser jo\npassword §', 'defaults\npassword "§"']],
  ['s3cmd', (d) => d.base64(40), ['access_key = AKIAX\nsecret_key = §', 'aws s3 ls --profile x # secret §']],
  ['minio', (d) => d.alnum(32), ['mc alias set acme https://s3.acme.io admin §', 'MINIO_ROOT_PASSWORD=§']],
  [
    'kafka-jaas',
    (d) => d.password(),
    [
      'org.apache.kafka.common.security.plain.PlainLoginModule required username="jo" password="§";',
      'sasl.jaas.config=... required username=\\"jo\\" password=\\"§\\";',
    ],
  ],
  [
    'jenkins',
    (d) => d.hex(34),
    [
      'curl -u jo:§ https://ci.acme.io/job/x/build',
      'Please use the following password to proceed to installation:\n\n§\n',
    ],
  ],
  [
    'grafana-ini',
    (d) => d.password(),
    ['[security]\nadmin_user = admin\nadmin_password = §', 'GF_SECURITY_ADMIN_PASSWORD=§'],
  ],
  ['airflow', (d) => `${d.url(43)}=`, ['fernet_key = §', 'AIRFLOW__CORE__FERNET_KEY=§']],
  ['rails-credentials', (d) => d.hex(128), ['secret_key_base: §', 'SECRET_KEY_BASE=§']],
  ['symfony', (d) => d.hex(32), ['APP_SECRET=§', 'MAILER_DSN=smtp://jo:§@mail.acme.io:25']],
  ['nextauth', (d) => `${d.base64(43)}=`, ['AUTH_SECRET="§" # Added by `npx auth`', 'GOOGLE_CLIENT_SECRET=§']],
  [
    'dotnet-user-secrets',
    (d) => d.password(),
    [
      'dotnet user-secrets set "Smtp:Password" "§"',
      '"ConnectionStrings": {"Default": "Server=db;User=sa;Password=§;"}',
    ],
  ],
  ['terraform-plan', (d) => d.password(), ['  + password = "§"', '  ~ db_password = "old" -> "§"']],
  ['helm-values', (d) => d.password(), ['auth:\n  rootPassword: §', 'helm install x --set-string adminPassword=§']],
  ['compose-map', (d) => d.alnum(28), ['environment:\n  SESSION_SECRET: §', 'environment:\n  - SIGNING_KEY=§']],
  ['github-secret-set', (d) => d.alnum(36), ['gh secret set PROD_KEY -b§', 'echo § | gh secret set PROD_KEY']],
  ['fly-secrets', (d) => d.alnum(36), ['fly secrets set STRIPE_KEY=§', 'wrangler secret put X <<< "§"']],
  ['npm-login', (d) => d.uuid(), ['npm config set //npm.acme.io/:_authToken §', '//npm.acme.io/:_authToken=§']],
  [
    'pip-index',
    (d) => d.alnum(30),
    ['pip install -i https://jo:§@pypi.acme.io/simple x', 'PIP_INDEX_URL=https://__token__:§@pypi.acme.io/simple'],
  ],
  ['ftp', (d) => d.password(), ['ftp> user jo §', 'curl ftp://jo:§@files.acme.io/x']],
  ['expect', (d) => d.password(), ['send "§\\r"', 'expect "assword:"\nsend "§\\r"']],
  ['python-getpass', (d) => d.password(), ['PASSWORD: str = "§"', 'pwd="§"; user="jo"']],
  ['go-const', (d) => d.alnum(30), ['const apiToken string = "§"', 'ApiSecret:    "§",']],
  ['kotlin', (d) => d.alnum(30), ['val apiKey: String = "§"', 'private val clientSecret = "§"']],
  ['swift', (d) => d.alnum(30), ['let apiKey: String = "§"', 'static let secretToken = "§"']],
  ['rust-const', (d) => d.alnum(30), ['const API_KEY: &str = "§";', '.bearer_auth("§")']],
  ['typescript-const', (d) => d.alnum(30), ['const apiToken: string = "§";', 'const token: string | undefined = "§"']],
  ['csharp', (d) => d.password(), ['public string Password { get; set; } = "§";', 'new NetworkCredential("jo", "§")']],
  [
    'java',
    (d) => d.password(),
    ['DriverManager.getConnection(url, "jo", "§");', 'private static final String PASSWORD = "§";'],
  ],
  ['ruby', (d) => d.password(), ['password: "§",', "ENV['SMTP_PW'] = '§'"]],
  ['php-array', (d) => d.password(), ["'password' => '§',", "$config['db_pass'] = '§';"]],
  ['perl', (d) => d.password(), ["DBI->connect('dbi:mysql:shop', 'jo', '§')", 'my $passwd = "§";']],
  ['r-lang', (d) => d.alnum(32), ['Sys.setenv(OPENWEATHER_KEY = "§")', 'api_key <- "§"']],
  ['requests-auth', (d) => d.password(), ['requests.get(url, auth=("jo", "§"))', 'HTTPBasicAuth("jo", "§")']],
  [
    'axios-auth',
    (d) => d.password(),
    ['axios.get(u, { auth: { username: "jo", password: "§" } })', 'auth: { user: "jo", pass: "§" }'],
  ],
  [
    'puppeteer',
    (d) => d.password(),
    ["await page.fill('#password', '§')", "await page.type('input[name=\"password\"]', '§')"],
  ],
  [
    'graphql-login',
    (d) => d.password(),
    [
      'mutation { login(email: "jo@acme.io", password: "§") { id } }',
      '{"variables":{"email":"jo@acme.io","password":"§"}}',
    ],
  ],
  [
    'http-log',
    (d) => d.alnum(40),
    ['POST /login HTTP/1.1\nX-Api-Key: §\nHost: acme.io', '> Authorization: Bearer §\n> Accept: */*'],
  ],
  [
    'access-log',
    (d) => d.alnum(40),
    ['10.0.0.1 - - "GET /api?access_token=§ HTTP/1.1" 200', 'GET /reset-password/confirm?reset_token=§'],
  ],
  [
    'set-cookie-json',
    (d) => d.url(48),
    ['"set-cookie": ["session=§; Path=/; HttpOnly"]', '{"name":"session","value":"§","domain":".acme.io"}'],
  ],
  [
    'playwright-state',
    (d) => d.alnum(64),
    ['{"name": "auth_token", "value": "§", "path": "/"}', 'localStorage.setItem("access_token", "§")'],
  ],
  [
    'magic-link',
    (d) => d.url(43),
    ['https://acme.io/auth/verify?token=§', 'https://acme.io/invite/accept?invite_token=§&x=1'],
  ],
  [
    'presigned-azure',
    (d) => `${d.alnum(40)}%3D`,
    ['https://acme.blob.core.windows.net/x?sv=2024-11-04&sr=b&sig=§', '?sv=2024&se=2026-01-01&sig=§'],
  ],
  ['env-diff', (d) => d.alnum(32), ['+STRIPE_SECRET=§', '-OLD_API_KEY=§\n+OLD_API_KEY=x']],
  ['table-cell', (d) => d.password(), ['| user | password |\n|---|---|\n| jo | § |', '| Password | § |']],
  ['csv', (d) => d.password(), ['username,password\njo,§\n', 'name;email;password\nJo;jo@acme.io;§\n']],
  ['markdown-bold', (d) => d.password(), ['- **Password:** §', '**API key**: `§`']],
  [
    'html-input',
    (d) => d.password(),
    ['<input type="password" value="§">', '<input name="password" type="text" value="§"/>'],
  ],
  [
    'ldif',
    (d) => d.password(),
    ['dn: uid=jo,dc=acme\nuserPassword: §', 'ldapsearch -x -D cn=admin,dc=acme -w § -b dc=acme'],
  ],
  ['snmp', (d) => d.word(), ['snmpwalk -v2c -c § 10.0.0.1', 'snmp-server community § RO']],
  ['cisco', (d) => d.password(), ['enable secret §', 'username admin privilege 15 password 0 §']],
  [
    'ipmi',
    (d) => d.password(),
    ['ipmitool -H 10.0.0.1 -U root -P § chassis status', 'racadm -r 10.0.0.1 -u root -p § getsysinfo'],
  ],
  ['rdp', (d) => d.password(), ['xfreerdp /v:win01 /u:jo /p:§', 'cmdkey /add:win01 /user:jo /pass:§']],
  ['winrm', (d) => d.password(), ['evil-winrm -i 10.0.0.1 -u jo -p §', 'net user jo § /add']],
  ['ansible-vars', (d) => d.password(), ['ansible_ssh_pass=§', 'ansible-playbook x.yml -e "db_password=§"']],
  ['adb-wifi', (d) => d.password(), ['WIFI:T:WPA;S:acme;P:§;;', 'wpa_passphrase acme §']],
  [
    'onepassword-inject',
    (d) => d.password(),
    ['op item create --category=login --title=x password=§', 'bw create item pw=§'],
  ],
  ['sqlplus', (d) => d.password(), ['sqlplus jo/§@db01', 'sqlcmd -S db01 -U sa -P §']],
  [
    'keytool',
    (d) => d.password(),
    ['keytool -genkey -keystore x.jks -storepass § -keypass §', 'jarsigner -keystore x.jks -storepass § app.jar key'],
  ],
  ['restic-borg', (d) => d.phrase(), ['export BORG_PASSPHRASE="§"', "BORG_PASSPHRASE='§' borg list"]],
  [
    'age-encrypt',
    (d) => `AGE-SECRET-KEY-1${d.of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`,
    ['# created: 2026\n§', 'SOPS_AGE_KEY=§'],
  ],
  ['solana', (d) => d.alnum(88), ['SOLANA_PRIVATE_KEY=§', 'secretKey: "§"']],
  [
    'stack-trace',
    (d) => d.password(),
    ['OperationalError: could not connect: postgresql://jo:§@db01/shop', "at connect({ host: 'db', password: '§' })"],
  ],
  [
    'query-string-body',
    (d) => d.password(),
    ['grant_type=password&username=jo&password=§', 'username=jo&passwd=§&submit=1'],
  ],
  [
    'base64-basic',
    (d) => Buffer.from(`jo:${d.password()}`).toString('base64'),
    ['Authorization: Basic §', '"auth": "§"'],
  ],
];
