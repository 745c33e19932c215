import type { SecretCase } from './secret-case.ts';

/**
 * Secrets as the documentation of products shows them in 2026, written without a look at the rules. What was masked at first sight is
 * noted in `split.ts`.
 */
export const PRODUCT_SECRETS: readonly SecretCase[] = [
  // Settings of programs and frameworks
  ['django-settings', (d) => d.base64(50), ["SECRET_KEY = 'django-insecure-§'", 'DJANGO_SECRET_KEY=§']],
  ['rails-credentials', (d) => d.hex(32), ['RAILS_MASTER_KEY=§ bin/rails server', 'config/master.key:\n§']],
  ['laravel-env', (d) => d.base64(43), ['APP_NAME=Shop\nAPP_KEY=base64:§=\nAPP_DEBUG=false']],
  ['nextauth', (d) => d.base64(44), ['NEXTAUTH_SECRET="§"', 'AUTH_SECRET=§ # Added by `npx auth`.']],
  [
    'symfony-dsn',
    (d) => d.password(),
    ['MAILER_DSN=smtp://shop:§@smtp.acme.io:587', 'DATABASE_URL="mysql://app:§@127.0.0.1:3306/app?serverVersion=8.0"'],
  ],
  [
    'spring-properties',
    (d) => d.password(),
    [
      'spring.datasource.username=shop\nspring.datasource.password=§',
      'spring:\n  security:\n    user:\n      name: admin\n      password: §',
    ],
  ],
  ['spring-jwt', (d) => d.base64(64), ['app.jwt.secret=§\napp.jwt.expiration=86400']],
  [
    'aspnet-connection',
    (d) => d.password(),
    ['"DefaultConnection": "Server=db01;Database=Shop;User Id=sa;Password=§;TrustServerCertificate=True"'],
  ],
  ['aspnet-user-secrets', (d) => d.password(), ['dotnet user-secrets set "Smtp:Password" "§"']],
  ['flask-config', (d) => d.hex(48), ["app.config['SECRET_KEY'] = '§'", 'app.secret_key = b"§"']],
  ['express-session', (d) => d.alnum(24), ["app.use(session({ secret: '§', resave: false }))"]],
  ['wordpress-config', (d) => d.alnum(64), ["define( 'AUTH_KEY',         '§' );", "define('NONCE_SALT', '§');"]],
  ['wordpress-db', (d) => d.password(), ["define( 'DB_PASSWORD', '§' );"]],
  ['joomla-config', (d) => d.alnum(16), ["public $secret = '§';"]],
  ['phoenix-secret', (d) => d.base64(64), ['config :shop, ShopWeb.Endpoint,\n  secret_key_base: "§"']],
  ['strapi-keys', (d) => d.base64(24), ['APP_KEYS=§,second', 'API_TOKEN_SALT=§', 'ADMIN_JWT_SECRET=§']],
  [
    'hasura-admin',
    (d) => d.alnum(32),
    ['HASURA_GRAPHQL_ADMIN_SECRET: §', "curl -H 'x-hasura-admin-secret: §' http://localhost:8080/v1/metadata"],
  ],
  [
    'grafana-ini',
    (d) => d.password(),
    ['[security]\nadmin_user = admin\nadmin_password = §', 'GF_SECURITY_ADMIN_PASSWORD=§'],
  ],
  ['superset-key', (d) => d.base64(42), ["SUPERSET_SECRET_KEY = '§'"]],
  ['airflow-fernet', (d) => d.url(43), ['AIRFLOW__CORE__FERNET_KEY=§=', '[core]\nfernet_key = §=']],
  ['n8n-encryption', (d) => d.alnum(32), ['N8N_ENCRYPTION_KEY=§']],
  ['gitea-ini', (d) => d.alnum(64), ['[security]\nINTERNAL_TOKEN = §\nINSTALL_LOCK = true']],
  ['keycloak-admin', (d) => d.password(), ['KC_BOOTSTRAP_ADMIN_PASSWORD=§', '      KEYCLOAK_ADMIN_PASSWORD: §']],
  ['vaultwarden', (d) => d.alnum(48), ['ADMIN_TOKEN=§\nSIGNUPS_ALLOWED=false']],
  // Databases and queues
  [
    'redis-conf',
    (d) => d.password(),
    ['requirepass §\nmaxmemory 2gb', 'masterauth §', 'user worker on >§ ~jobs:* +@all'],
  ],
  ['redis-cli', (d) => d.password(), ['redis-cli -h cache01 -a § ping', 'redis://:§@cache01:6379/0']],
  [
    'mongo-uri',
    (d) => d.password(),
    ['mongodb+srv://shop:§@cluster0.ab1cd.mongodb.net/?retryWrites=true', "mongosh --username root --password '§'"],
  ],
  [
    'mysql-cli',
    (d) => d.password(),
    [
      'mysql -u root -p§ shop < dump.sql',
      '[client]\nuser=backup\npassword=§',
      "ALTER USER 'shop'@'%' IDENTIFIED BY '§';",
    ],
  ],
  [
    'postgres-sql',
    (d) => d.password(),
    [
      "CREATE ROLE shop LOGIN PASSWORD '§';",
      'db01:5432:shop:shop:§',
      'psql "host=db01 user=shop password=§ dbname=shop"',
    ],
  ],
  [
    'clickhouse',
    (d) => d.password(),
    [
      'clickhouse-client --user default --password § -q "SELECT 1"',
      '<users><default><password>§</password></default></users>',
    ],
  ],
  ['rabbitmq', (d) => d.password(), ['rabbitmqctl add_user shop §', 'amqp://shop:§@mq01:5672/%2F', 'default_pass = §']],
  [
    'kafka-sasl',
    (d) => d.password(),
    [
      'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="shop" password="§";',
      'sasl.password=§',
    ],
  ],
  [
    'elastic',
    (d) => d.alnum(20),
    [
      'ELASTIC_PASSWORD=§',
      'Password for the [elastic] user (reset with `bin/elasticsearch-reset-password -u elastic`):\n  §',
      'curl -u elastic:§ https://es01:9200',
    ],
  ],
  [
    'snowflake',
    (d) => d.password(),
    [
      "snowflake.connector.connect(user='SHOP', password='§', account='xy12345')",
      '[connections.shop]\naccount = "xy12345"\npassword = "§"',
    ],
  ],
  ['neo4j', (d) => d.password(), ['NEO4J_AUTH=neo4j/§', 'cypher-shell -u neo4j -p §']],
  // Clouds and machines
  [
    'aws-credentials-file',
    (d) => d.base64(40),
    ['[default]\naws_access_key_id = AKIAQ3EGRSTUVWXYZ234\naws_secret_access_key = §'],
  ],
  [
    'aws-session',
    (d) => d.base64(120),
    ['export AWS_SESSION_TOKEN="§"', '"SessionToken": "§",\n"Expiration": "2026-03-02T10:00:00Z"'],
  ],
  [
    'aws-presigned',
    (d) => d.hex(64),
    ['https://shop.s3.amazonaws.com/a.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=§'],
  ],
  [
    'azure-storage',
    (d) => d.base64(86),
    ['DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=§==;EndpointSuffix=core.windows.net'],
  ],
  [
    'azure-sas',
    (d) => d.base64(43),
    ['https://shop.blob.core.windows.net/c/a.csv?sv=2024-11-04&se=2026-04-01&sr=b&sp=r&sig=§%3D'],
  ],
  [
    'azure-sp',
    (d) => d.url(40),
    [
      'az login --service-principal -u 4f1f1f1f-0000-4000-8000-000000000001 -p § --tenant acme.io',
      '"clientSecret": "§",\n"subscriptionId": "4f1f1f1f-0000-4000-8000-000000000001"',
    ],
  ],
  [
    'servicebus',
    (d) => d.base64(43),
    ['Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=§='],
  ],
  ['google-refresh', (d) => `1//0${d.url(60)}`, ['"refresh_token": "§",\n"type": "authorized_user"']],
  ['google-access', (d) => `ya29.${d.url(80)}`, ['$ gcloud auth print-access-token\n§']],
  ['kubeconfig', (d) => d.base64(200), ['users:\n- name: admin\n  user:\n    client-key-data: §', '    token: §']],
  ['k8s-secret-data', (d) => d.base64(28), ['apiVersion: v1\nkind: Secret\ndata:\n  api-key: §\n']],
  ['k8s-docker-config', (d) => d.base64(60), ['"auths": {"ghcr.io": {"auth": "§"}}']],
  [
    'terraform-vault',
    (d) => `hvs.${d.url(24)}`,
    ['vault login §', 'VAULT_TOKEN=§ vault kv get secret/shop', 'token                §'],
  ],
  ['vault-unseal', (d) => d.base64(44), ['Unseal Key 1: §\nUnseal Key 2: x']],
  ['consul-gossip', (d) => d.base64(43), ['encrypt = "§="']],
  [
    'k3s-token',
    (d) => `K10${d.hex(64)}::server:${d.hex(32)}`,
    ['K3S_TOKEN=§ sh -', 'cat /var/lib/rancher/k3s/server/node-token\n§'],
  ],
  [
    'kubeadm-join',
    (d) => `${d.lower(6)}.${d.lower(16)}`,
    ['kubeadm join 10.0.0.1:6443 --token § --discovery-token-ca-cert-hash sha256:1234'],
  ],
  ['swarm-join', (d) => `SWMTKN-1-${d.lower(50)}-${d.lower(25)}`, ['docker swarm join --token § 10.0.0.1:2377']],
  ['wireguard', (d) => d.base64(43), ['[Interface]\nPrivateKey = §=\nAddress = 10.0.0.2/24', 'PresharedKey = §=']],
  [
    'openvpn-static',
    (d) => d.hex(32),
    ['-----BEGIN OpenVPN Static key V1-----\n§\n-----END OpenVPN Static key V1-----'],
  ],
  [
    'wifi',
    (d) => d.password(),
    [
      'network={\n  ssid="Office"\n  psk="§"\n}',
      'nmcli dev wifi connect Office password §',
      '[wifi-security]\nkey-mgmt=wpa-psk\npsk=§',
    ],
  ],
  ['ipmi', (d) => d.password(), ['ipmitool -I lanplus -H 10.0.0.9 -U admin -P § power status']],
  [
    'sshpass',
    (d) => d.password(),
    ["sshpass -p '§' ssh root@10.0.0.4 uptime", "echo '§' | sudo -S apt update", "echo 'deploy:§' | chpasswd"],
  ],
  ['shadow-hash', (d) => `$6$${d.alnum(16)}$${d.alnum(86)}`, ['root:§:19800:0:99999:7:::']],
  ['htpasswd-cli', (d) => d.password(), ['htpasswd -bc /etc/nginx/.htpasswd jo §']],
  [
    'openssl-passin',
    (d) => d.password(),
    ['openssl pkcs12 -in a.p12 -passin pass:§ -nodes', 'keytool -list -keystore a.jks -storepass §'],
  ],
  ['gpg-passphrase', (d) => d.password(), ['gpg --batch --passphrase § -d a.gpg']],
  [
    'smb',
    (d) => d.password(),
    [
      'mount -t cifs //nas/share /mnt -o username=jo,password=§',
      'smbclient //nas/share -U jo%§',
      'net use Z: \\\\nas\\share /user:jo §',
    ],
  ],
  [
    'curl-user',
    (d) => d.password(),
    [
      'curl -u jo:§ https://api.acme.io/v1/me',
      'curl --user "jo:§" https://acme.io',
      'wget --user=jo --password=§ https://acme.io/a.zip',
    ],
  ],
  [
    'basic-header',
    (d) => d.base64(28),
    ['Authorization: Basic §', "fetch(url, { headers: { Authorization: 'Basic §' } })"],
  ],
  [
    'bearer-header',
    (d) => d.url(48),
    [
      '> Authorization: Bearer §\n> Accept: */*',
      "-H 'Authorization: Bearer §'",
      'headers={"Authorization": f"Bearer §"}',
    ],
  ],
  [
    'cookie',
    (d) => d.url(60),
    ['Cookie: theme=dark; sessionid=§; lang=en', 'Set-Cookie: connect.sid=§; Path=/; HttpOnly', '"PHPSESSID": "§"'],
  ],
  [
    'csrf-login',
    (d) => d.password(),
    ['POST /login\n\nusername=jo&password=§&remember=1', '{"email":"jo@acme.io","password":"§"}'],
  ],
  [
    'oauth-code',
    (d) => d.url(50),
    [
      'https://app.acme.io/cb?code=§&state=xyz',
      'grant_type=authorization_code&code=§',
      'grant_type=refresh_token&refresh_token=§',
    ],
  ],
  ['oauth-client', (d) => d.alnum(40), ['client_id=shop&client_secret=§', 'OAUTH_CLIENT_SECRET: "§"']],
  [
    'magic-link',
    (d) => d.url(43),
    ['https://acme.io/reset-password?token=§', 'https://acme.io/verify/§?purpose=login-token'],
  ],
  [
    'totp',
    (d) => d.of('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 32),
    ['otpauth://totp/Acme:jo@acme.io?secret=§&issuer=Acme', 'TOTP_SECRET=§'],
  ],
  ['recovery-codes', (d) => `${d.lower(5)}-${d.lower(5)}`, ['Recovery codes:\n§\n']],
];
